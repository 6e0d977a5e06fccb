# Two texts as arrays of bytes: cmake -DVOCAB=.. -DPRELUDE=.. -DOUT=.. -P embed.cmake
set(text "#include <stddef.h>\n")
foreach(name vocab prelude)
  string(TOUPPER ${name} variable)
  file(READ ${${variable}} bytes HEX)
  string(REGEX REPLACE "([0-9a-f][0-9a-f])" "0x\\1," bytes "${bytes}")
  string(APPEND text "extern const unsigned char codegen_${name}[];\nextern const size_t codegen_${name}_bytes;\n"
    "const unsigned char codegen_${name}[] = {${bytes}0};\nconst size_t codegen_${name}_bytes = sizeof codegen_${name} - 1;\n")
endforeach()
file(WRITE ${OUT} "${text}")
