#include "cubin.h"

#include <elf.h>

#include <cstring>
#include <map>

namespace driver {

namespace {

constexpr unsigned machine_cuda = 190;      // EM_CUDA
constexpr unsigned architecture_bits = 0xff;  // those of e_flags that say which it is for
constexpr unsigned reserved_shared = 1024;  // from sm_90 on, counted in the section of shared variables

// An entry of .nv.info is a byte for its form, one for what it tells, and two bytes: the value, or
// the size of the value that follows.
enum Form : uint8_t { follows = 4 };
enum Tells : uint8_t { max_threads = 0x05, param_bytes = 0x19 };

const std::string info = ".nv.info.", shared = ".nv.shared.";

void read_info(const uint8_t* at, size_t size, PtxKernel* kernel) {
  for (size_t i = 0; i + 4 <= size;) {
    const uint8_t form = at[i], tells = at[i + 1];
    uint16_t value;
    memcpy(&value, at + i + 2, sizeof value);
    i += 4;
    if (tells == param_bytes) kernel->param_bytes = value;
    if (tells == max_threads) {
      uint32_t block[3];
      memcpy(block, at + i, sizeof block);
      kernel->max_threads = block[0] * block[1] * block[2];
    }
    if (form == follows) i += value;
  }
}

}  // namespace

bool is_elf(const void* image) { return memcmp(image, ELFMAG, SELFMAG) == 0; }

bool read_elf(const void* image, Ptx* ptx, std::string* error) {
  const auto* bytes = static_cast<const uint8_t*>(image);
  Elf64_Ehdr head;
  memcpy(&head, bytes, sizeof head);
  if (head.e_machine != machine_cuda || head.e_shentsize != sizeof(Elf64_Shdr)) {
    *error = "device kernel image is invalid: no machine code of a device\n";
    return false;
  }
  ptx->target = static_cast<int>(head.e_flags & architecture_bits);
  std::vector<Elf64_Shdr> sections(head.e_shnum);
  memcpy(sections.data(), bytes + head.e_shoff, sections.size() * sizeof(Elf64_Shdr));
  const char* names = reinterpret_cast<const char*>(bytes) + sections.at(head.e_shstrndx).sh_offset;
  std::map<std::string, PtxKernel> kernels;
  for (const auto& section : sections) {
    const std::string name = names + section.sh_name;
    if (name.starts_with(info)) read_info(bytes + section.sh_offset, section.sh_size, &kernels[name.substr(info.size())]);
    if (name.starts_with(shared)) {
      const uint32_t reserved = ptx->target >= 90 ? reserved_shared : 0;
      kernels[name.substr(shared.size())].static_shared = static_cast<uint32_t>(section.sh_size) - reserved;
    }
  }
  for (auto& [name, kernel] : kernels) {
    kernel.name = name;
    ptx->kernels.push_back(kernel);
  }
  return true;
}

}  // namespace driver
