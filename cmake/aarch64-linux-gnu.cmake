# Cross build for ARM64 Linux with Debian's gcc-aarch64-linux-gnu; what is built runs under qemu-user.
# ECO_ARM64_ROOT: a folder with ARM64 libraries that Debian's cross compiler does not bring (cmocka).
set(CMAKE_SYSTEM_NAME Linux)
set(CMAKE_SYSTEM_PROCESSOR aarch64)
set(CMAKE_C_COMPILER aarch64-linux-gnu-gcc)
set(CMAKE_CROSSCOMPILING_EMULATOR qemu-aarch64 -L /usr/aarch64-linux-gnu)
set(CMAKE_TRY_COMPILE_PLATFORM_VARIABLES ECO_ARM64_ROOT)
# The build machine's libraries are of no use here.
set(ENV{PKG_CONFIG_PATH} "")
set(ENV{PKG_CONFIG_LIBDIR} "${ECO_ARM64_ROOT}/usr/lib/aarch64-linux-gnu/pkgconfig")
if(ECO_ARM64_ROOT)
  set(CMAKE_C_FLAGS_INIT "-isystem ${ECO_ARM64_ROOT}/usr/include")
  set(CMAKE_EXE_LINKER_FLAGS_INIT "-L${ECO_ARM64_ROOT}/usr/lib/aarch64-linux-gnu")
endif()
