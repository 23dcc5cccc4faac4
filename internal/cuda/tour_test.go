package cuda_test

import (
	"bytes"
	"errors"
	"fmt"

	"github.com/gagg-dev/gagg/internal/cuda"
	"github.com/gagg-dev/gagg/internal/kernels/kerneltest"
)

// tour calls every function of the driver that this package has, in the way
// programs do, and gives everything back whatever fails. It opens the driver
// anew each time.
func tour() (err error) {
	driver, err := cuda.OpenAnew()
	if err != nil {
		return err
	}
	if _, err := driver.Devices(); err != nil {
		return err
	}
	ctx, err := driver.Context(0)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, ctx.Lost(), ctx.Close()) }()
	thread, err := ctx.Lock()
	if err != nil {
		return err
	}
	defer thread.Unlock()
	if _, _, err := thread.MemoryInfo(); err != nil {
		return err
	}
	return tourMemory(thread)
}

// tourMemory makes what a pipeline needs.
func tourMemory(thread *cuda.Thread) (err error) {
	memory, err := thread.Alloc(800)
	if err != nil {
		return err
	}
	defer closing(&err, memory)
	pinned, err := thread.AllocPinned(800)
	if err != nil {
		return err
	}
	defer closing(&err, pinned)
	large, err := thread.AllocPinned(4 << 20) // which the driver only registers
	if err != nil {
		return err
	}
	defer closing(&err, large)
	probe := kerneltest.NewProbe(thread.Context())
	if err := tourFunctions(thread.Context(), probe); err != nil {
		return err
	}
	return tourStreams(thread, memory.Span(), pinned, probe)
}

func tourFunctions(ctx *cuda.Context, probe *kerneltest.Probe) error {
	f, err := probe.Kernel(0)
	if err != nil {
		return err
	}
	_, err = f.Attributes()
	_, occupancy := f.Occupancy(32, 0)
	_, dynamic := kerneltest.NewBlock(ctx).Kernel(dynamicKernel)
	return errors.Join(err, occupancy, dynamic)
}

// tourStreams sends data to the device and back by two streams.
func tourStreams(thread *cuda.Thread, memory cuda.Span, pinned *cuda.Pinned, probe *kerneltest.Probe) (err error) {
	first, err := thread.NewStream()
	if err != nil {
		return err
	}
	defer closing(&err, first)
	second, err := thread.NewStream()
	if err != nil {
		return err
	}
	defer closing(&err, second)
	begin, err := thread.NewEvent()
	if err != nil {
		return err
	}
	defer closing(&err, begin)
	end, err := thread.NewEvent()
	if err != nil {
		return err
	}
	defer closing(&err, end)
	for _, step := range []func() error{
		func() error { return thread.Write(memory, bytes.Repeat([]byte{1}, 800)) },
		func() error { return first.Record(begin) },
		func() error { return first.CopyIn(memory.Slice(0, 400), pinned.Span(400, 800)) },
		func() error { return first.Copy(memory.Slice(400, 800), memory.Slice(0, 400)) },
		func() error { return first.Fill(memory.Slice(0, 400), 2) },
		func() error { return first.Fill32(memory.Slice(0, 400), 3) },
		func() error { return probe.Fill(first, cuda.Grid{Blocks: 1, Threads: 32}, memory.Ptr, 100, 7) },
		func() error { return first.Record(end) },
		func() error { return second.Wait(end) },
		func() error { return second.CopyOut(pinned.Span(0, 800), memory) },
		second.Synchronize,
		func() error { _, err := second.Done(); return err },
		end.Synchronize,
		func() error { _, err := end.Done(); return err },
		func() error { _, err := end.Since(begin); return err },
		func() error { return thread.Read(make([]byte, 800), memory) },
		thread.Synchronize,
	} {
		if err := step(); err != nil {
			// Its data may still be on the way; memory is not freed below it.
			return errors.Join(err, first.Synchronize(), second.Synchronize())
		}
	}
	if got := pinned.Bytes()[0]; got != 7 {
		return fmt.Errorf("the answer is %d, want 7", got)
	}
	return nil
}

func closing(err *error, h interface{ Close() error }) { *err = errors.Join(*err, h.Close()) }
