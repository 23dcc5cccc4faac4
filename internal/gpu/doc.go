// Package gpu is the device executor: it lets devices do a part of what package
// cpu does, and sees to it that nothing is lost on the way.
//
// # Phases of a run
//
//  1. Open: driver, contexts and first passes are opened in the background, while
//     workers already read.
//  2. Workers write tiles into a device's pinned memory ([Devices.Tile], cpu.Accelerator), and each
//     device aggregates its tiles (firstpass.Pass). Rows that a device has no room for stay in the
//     pinned memory to which they leave, while devices are expected to have them again and there is
//     such memory, or go to writers, which are buckets on the host. Where the query allows it,
//     workers do not make rows, but read column chunks into that memory as they lie in their files:
//     a batch (package decode), of which the device makes the rows. Units that it cannot decode
//     are declined, and read by workers.
//  3. Finish brings the rows of each group to one place. They stay on a device if it has room for
//     all, of other devices too, which move theirs to it, and no worker has kept rows. Else all
//     rows go to buckets, or stay in pinned memory until devices aggregate them. A device that has
//     all groups may group them by some of their keys ([Regroup]), for another run that goes on in
//     this one's place.
//  4. While the result is made, partition by partition, goroutines read the groups of the device
//     ([Devices.Attach], cpu.Resident) or have buckets aggregated on devices, which are spread over
//     the goroutines (secondpass.Pass, cpu.Pass).
//
// # Invariants
//
//   - DEVICE-WHOLE: rows that come back stand for as many input rows as were sent. That is checked
//     wherever rows come back, by the count that each row has, and ends the run with [ErrRows].
//     What rows in pinned memory stand for is known in sum alone, when the last of them has come
//     back.
//   - DEVICE-VOID: after a failure of a device ([Error]) nothing is used that any device has made.
//     The caller throws the groups away and reads the input again. It cannot if some are already
//     gone ([Error].Late): rows that a device has lost of groups that stay there are found when all
//     have been read.
//   - BATCH-ONCE: a submitted batch is under way until its rows are taken or it is declined; then
//     each of its units is read by one worker. Its rows count as sent until it is declined, so that
//     those of a batch that a device was lost with are missed (DEVICE-WHOLE).
//   - HOST-SHARE: where memory is limited, the pinned memory of a device is a share that is
//     reserved when the device is opened, or before if the run needs the device. So are the least
//     pages of each partition writer. Therefore rows can leave the device, to disk if necessary,
//     also when other owners hold all other memory. Retained rows have a part of the share at most.
//     The share is no larger than is useful, and it is released when no more rows leave the device.
//     The shares of workers shrink by as much. Second passes pin memory that mergers do not count
//     on: a merger needs its own to divide a partition.
//
// Where groups have lists of values (combine.List), devices get batches alone: rows that workers
// make refer to values in the workers' memory, and stay there. All groups stay on the device until
// they are read, or all go to partition writers. The reader of the groups makes chains of their
// lists, in its own memory.
//
// Two kinds of errors come out of here: those of devices, and those of the host while it takes
// rows back (out of memory, a full disk), which pass through as they are.
package gpu
