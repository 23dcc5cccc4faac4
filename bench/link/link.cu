// The measurements of bench/link once more, by a plain CUDA C++ program: what the driver gives to
// those who need no Go layer. `link` runs it as its -peer, in turns with its own rounds, and tells
// it how much to do:
//
//   nvcc -O3 -std=c++17 -arch=native -o link_cuda link.cu -lcuda
//   link_cuda REPEATS LAUNCHES COPIED LARGEST SIZE...
//
// Each figure is the median of REPEATS. COPIED is how many bytes one measurement of a rate moves,
// by copies of SIZE bytes each, LARGEST the size of the pageable copies and of the buffers. Out
// comes a line "name value" for each figure, named and in units as in items.go.
#include <cuda.h>
#include <cuda_runtime.h>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <functional>
#include <string>
#include <vector>

namespace {

using Clock = std::chrono::steady_clock;

// checked ends the program at the first call that fails.
void checked(int code, const char* what) {
  if (code == 0) return;
  std::fprintf(stderr, "link_cuda: %s: error %d\n", what, code);
  std::exit(1);
}

#define CHECK(call) checked(call, #call)

// seconds that work takes.
double seconds(const std::function<void()>& work) {
  const auto start = Clock::now();
  work();
  return std::chrono::duration<double>(Clock::now() - start).count();
}

struct Options {
  int repeats, launches;
  size_t copied, largest;
  std::vector<size_t> sizes;
};

// print gives the median of measure's values.
void print(const Options& o, const std::string& name, const std::function<double()>& measure) {
  std::vector<double> values;
  for (int i = 0; i < o.repeats; i++) values.push_back(measure());
  std::sort(values.begin(), values.end());
  std::printf("%s %.9g\n", name.c_str(), (values[(values.size() - 1) / 2] + values[values.size() / 2]) / 2);
}

__global__ void empty() {}

void startup() {
  CUdevice device;
  CUcontext context;
  std::printf("start/init %.9g\n", 1e3 * seconds([] { CHECK(cuInit(0)); }));
  CHECK(cuDeviceGet(&device, 0));
  std::printf("start/context %.9g\n", 1e3 * seconds([&] { CHECK(cuDevicePrimaryCtxRetain(&context, device)); }));
  CHECK(cudaFree(nullptr));  // the runtime takes the primary context over
}

void launches(const Options& o, cudaStream_t stream) {
  empty<<<1, 32, 0, stream>>>();
  CHECK(cudaStreamSynchronize(stream));
  print(o, "launch/issue", [&] {
    const double s = seconds([&] {
      for (int i = 0; i < o.launches; i++) empty<<<1, 32, 0, stream>>>();
    });
    CHECK(cudaStreamSynchronize(stream));
    return 1e6 * s / o.launches;
  });
  print(o, "launch/sync", [&] {
    const double s = seconds([&] {
      for (int i = 0; i < o.launches; i++) {
        empty<<<1, 32, 0, stream>>>();
        CHECK(cudaStreamSynchronize(stream));
      }
    });
    return 1e6 * s / o.launches;
  });
  CHECK(cudaGetLastError());
}

// Buffers of the copies: one direction each, so that both can be under way.
struct Buffers {
  char *host_in, *host_out, *device_in, *device_out;
};

void pinned(const Options& o, size_t size, const Buffers& b, cudaStream_t in, cudaStream_t out) {
  const size_t copies = std::max<size_t>(o.copied / size, 1);
  const auto rate = [&](bool inward, bool outward) {
    const double s = seconds([&] {
      for (size_t i = 0; i < copies; i++) {
        if (inward) CHECK(cudaMemcpyAsync(b.device_in, b.host_in, size, cudaMemcpyHostToDevice, in));
        if (outward) CHECK(cudaMemcpyAsync(b.host_out, b.device_out, size, cudaMemcpyDeviceToHost, out));
      }
      CHECK(cudaStreamSynchronize(in));
      CHECK(cudaStreamSynchronize(out));
    });
    return 1e-9 * double(copies * size) * (inward + outward) / s;
  };
  const std::string at = "/" + std::to_string(size);
  print(o, "pinned/in" + at, [&] { return rate(true, false); });
  print(o, "pinned/out" + at, [&] { return rate(false, true); });
  print(o, "pinned/both" + at, [&] { return rate(true, true); });
}

void pageable(const Options& o, const Buffers& b) {
  std::vector<char> host(o.largest, 1);
  const double bytes = double(o.largest);
  print(o, "pageable/in", [&] {
    return 1e-9 * bytes / seconds([&] { CHECK(cudaMemcpy(b.device_in, host.data(), o.largest, cudaMemcpyHostToDevice)); });
  });
  print(o, "pageable/out", [&] {
    return 1e-9 * bytes / seconds([&] { CHECK(cudaMemcpy(host.data(), b.device_out, o.largest, cudaMemcpyDeviceToHost)); });
  });
}

void pinning(const Options& o, size_t size) {
  void* p = nullptr;
  print(o, "pin/" + std::to_string(size), [&] {
    const double s = seconds([&] { CHECK(cudaHostAlloc(&p, size, cudaHostAllocMapped)); });
    CHECK(cudaFreeHost(p));
    return 1e3 * s / (double(size) / (1 << 20));
  });
}

}  // namespace

int main(int argc, char** argv) {
  if (argc < 6) {
    std::fprintf(stderr, "usage: link_cuda REPEATS LAUNCHES COPIED LARGEST SIZE...\n");
    return 2;
  }
  Options o{std::atoi(argv[1]), std::atoi(argv[2]), std::strtoull(argv[3], nullptr, 10), std::strtoull(argv[4], nullptr, 10), {}};
  for (int i = 5; i < argc; i++) o.sizes.push_back(std::strtoull(argv[i], nullptr, 10));

  startup();
  cudaStream_t in, out;
  CHECK(cudaStreamCreateWithFlags(&in, cudaStreamNonBlocking));
  CHECK(cudaStreamCreateWithFlags(&out, cudaStreamNonBlocking));
  launches(o, in);
  Buffers b;
  CHECK(cudaHostAlloc(&b.host_in, o.largest, cudaHostAllocMapped));
  CHECK(cudaHostAlloc(&b.host_out, o.largest, cudaHostAllocMapped));
  CHECK(cudaMalloc(&b.device_in, o.largest));
  CHECK(cudaMalloc(&b.device_out, o.largest));
  for (const size_t size : o.sizes) pinned(o, size, b, in, out);
  pageable(o, b);
  for (const size_t size : o.sizes) pinning(o, size);
  return 0;
}
