# cmake -DOUT=file.c -DIN=a.md;b.md -P embed_text.cmake: each text as the array eco_mcp_<name>.
set(code "/* Written by cmake/embed_text.cmake. */\n#include \"mcp_parts.h\"\n")
foreach(file ${IN})
  get_filename_component(name ${file} NAME_WE)
  file(READ ${file} hex HEX)
  string(REGEX REPLACE "(................................)" "\\1\n" lines "${hex}")
  string(REGEX REPLACE "([0-9a-f][0-9a-f])" "'\\\\x\\1'," bytes "${lines}")
  string(APPEND code "\nconst char eco_mcp_${name}[] = {\n${bytes}0};\n"
                     "const size_t eco_mcp_${name}_len = sizeof eco_mcp_${name} - 1;\n")
endforeach()
file(WRITE ${OUT} "${code}")
