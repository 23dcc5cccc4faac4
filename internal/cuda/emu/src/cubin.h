// What the emulator reads from machine code: the same facts that it reads from PTX. It does not
// execute the code.
#pragma once

#include <string>

#include "ptx.h"

namespace driver {

// is_elf tells machine code from PTX.
bool is_elf(const void* image);

// read_elf reads the ELF file of a module; false, with what a person has to know in *error, when it
// is none for a device. The target is the architecture it was made for.
bool read_elf(const void* image, Ptx* ptx, std::string* error);

}  // namespace driver
