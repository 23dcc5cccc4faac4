// What tests ask of ega.cuh beside the kernels that ship.
#include "../device.cuh"

#include "../ega.cuh"

// ega_probe_hash writes the hashes of n keys. A thread a key; no barriers.
extern "C" __global__ void ega_probe_hash(EgaLayout layout, const uint64_t* keys, uint64_t n, uint64_t* hashes) {
  uint64_t i = global_thread();
  if (i >= n) return;
  uint64_t key[EGA_MAX_KEYS] = {};
  for (uint32_t k = 0; k < EGA_MAX_KEYS; k++) {
    if (k < layout.key_words) key[k] = keys[i * layout.key_words + k];
  }
  hashes[i] = ega_hash<EgaAny>(layout, key);
}
