// What a pipeline of streams is tested and measured with: a kernel that reads all of its input, and
// leaves an output and the facts that say how long that is.
#include "../device.cuh"

// stream_sums makes sums of every sums-th word: out[i] = in[i] + in[i + sums] + in[i + 2 sums] + …,
// by however many threads there are. It adds the bytes of the output to facts[0], and the words of
// the input to facts[1].
extern "C" __global__ void stream_sums(const uint64_t* in, uint64_t words, uint64_t* out, uint64_t sums,
                                       uint64_t* facts) {
  for (uint64_t i = global_thread(); i < sums; i += global_threads()) {
    uint64_t sum = 0;
    for (uint64_t j = i; j < words; j += sums) sum += in[j];
    out[i] = sum;
  }
  if (global_thread() == 0) {
    atomicAdd(facts, sums * sizeof(uint64_t));
    atomicAdd(facts + 1, words);
  }
}
