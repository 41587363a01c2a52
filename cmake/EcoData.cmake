# data/*.csv -> build/gen/*.c through tools/csv2c (a host program). Owner: the data module.
function(eco_generate_data out)
  set(${out} "" PARENT_SCOPE)
endfunction()
