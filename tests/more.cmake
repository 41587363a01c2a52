# Tests beside the unit tests: fuzz corpora, command-line transcripts, the installed tree, lint.
option(ECO_LINT "run the lint checks as tests" ON)
set(python /usr/bin/python3) # Debian's own; another python may lack its packages

add_subdirectory(fuzz)
include(unit/base/peers.cmake)
include(web/web.cmake)
include(unit/store/store.cmake)
include(server/services.cmake)

if(TARGET ecocompute)
  file(GLOB transcripts CONFIGURE_DEPENDS ${CMAKE_CURRENT_SOURCE_DIR}/cli/*.cli)
  file(GLOB documents CONFIGURE_DEPENDS ${CMAKE_SOURCE_DIR}/README.md ${CMAKE_SOURCE_DIR}/docs/*.md)
  if(NOT ECO_AUDIT_BUILT)
    message(NOTICE "-- tests of the audit are SKIPPED: it is not built in")
    list(FILTER transcripts EXCLUDE REGEX "/audit\\.cli$")
    list(FILTER documents EXCLUDE REGEX "/audit\\.md$")
  endif()
  # a document without commands is no test; look again when one changes
  set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS ${documents})
  foreach(document ${documents})
    file(STRINGS ${document} blocks REGEX "^```console$")
    if(blocks)
      list(APPEND transcripts ${document})
    endif()
  endforeach()
  foreach(file ${transcripts})
    file(RELATIVE_PATH name ${CMAKE_SOURCE_DIR} ${file})
    string(REGEX REPLACE "^tests/" "" name ${name})
    add_test(NAME cli/${name}
             COMMAND ${python} ${CMAKE_CURRENT_SOURCE_DIR}/cli/transcript.py
                     --program $<TARGET_FILE:ecocompute> ${file})
    set_tests_properties(cli/${name} PROPERTIES LABELS cli TIMEOUT 120 SKIP_RETURN_CODE 77)
  endforeach()

  # Every example of --help is run.
  add_executable(list_examples ${CMAKE_CURRENT_SOURCE_DIR}/cli/list_examples.c)
  eco_flags(list_examples)
  target_link_libraries(list_examples PRIVATE eco_ops m ${CMAKE_DL_LIBS})
  add_test(NAME cli/examples
           COMMAND ${python} ${CMAKE_CURRENT_SOURCE_DIR}/cli/examples.py
                   --program $<TARGET_FILE:ecocompute> --list $<TARGET_FILE:list_examples>)
  add_test(NAME cli/journal COMMAND ${python} ${CMAKE_CURRENT_SOURCE_DIR}/cli/journal_ways.py
           --program $<TARGET_FILE:ecocompute>)
  set_tests_properties(cli/journal PROPERTIES LABELS cli TIMEOUT 120)
  add_test(NAME cli/pages
           COMMAND ${CMAKE_CURRENT_SOURCE_DIR}/cli/pages.sh $<TARGET_FILE:ecocompute>)
  set_tests_properties(cli/examples cli/pages PROPERTIES LABELS cli TIMEOUT 300)
  if(NOT ECO_SANITIZE) # a user's program would need the sanitizer too
    add_test(NAME cli/install COMMAND ${CMAKE_CURRENT_SOURCE_DIR}/cli/install.sh
             ${CMAKE_BINARY_DIR} ${CMAKE_SOURCE_DIR})
    set_tests_properties(cli/install PROPERTIES LABELS cli TIMEOUT 120)
  endif()
endif()

if(TARGET ecocompute AND NOT ECO_SANITIZE) # the fake driver would need the sanitizer too
  # mostly sleeping, so on a clock twice as fast; four times as fast, figures scattered too much
  add_test(NAME cli/measure_run COMMAND ${python} ${CMAKE_CURRENT_SOURCE_DIR}/cli/measure_run.py
           --program $<TARGET_FILE:ecocompute> --nvml $<TARGET_FILE:fake_nvml>
           --clock $<TARGET_FILE:fast_clock>)
  set_tests_properties(cli/measure_run PROPERTIES LABELS cli TIMEOUT 600 COST 200)
  add_test(NAME cli/track_cards COMMAND ${python} ${CMAKE_CURRENT_SOURCE_DIR}/cli/track_cards.py
           --program $<TARGET_FILE:ecocompute> --nvml $<TARGET_FILE:fake_nvml>)
  set_tests_properties(cli/track_cards PROPERTIES LABELS cli TIMEOUT 120)
  add_test(NAME cli/threads COMMAND ${python} ${CMAKE_CURRENT_SOURCE_DIR}/cli/threads.py
           --program $<TARGET_FILE:ecocompute>)
  set_tests_properties(cli/threads PROPERTIES LABELS cli TIMEOUT 120)
  # kill -9 at random moments, twelve runs at once; ECO_KILL_POINTS=50 for the long one
  set(ECO_KILL_POINTS 12 CACHE STRING "moments at which cli/kill_run kills")
  add_test(NAME cli/kill_run COMMAND ${python} ${CMAKE_CURRENT_SOURCE_DIR}/cli/kill_run.py
           --program $<TARGET_FILE:ecocompute> --nvml $<TARGET_FILE:fake_nvml>
           --clock $<TARGET_FILE:fast_clock> --points ${ECO_KILL_POINTS})
  add_test(NAME cli/limits_run COMMAND ${python} ${CMAKE_CURRENT_SOURCE_DIR}/cli/limits_run.py
           --program $<TARGET_FILE:ecocompute> --nvml $<TARGET_FILE:fake_nvml>)
  set_tests_properties(cli/kill_run PROPERTIES LABELS cli TIMEOUT 900 COST 190)
  set_tests_properties(cli/limits_run PROPERTIES LABELS cli TIMEOUT 120)
endif()

if(TARGET ecocompute AND ECO_AUDIT_BUILT)
  add_test(NAME cli/action COMMAND ${python} ${CMAKE_CURRENT_SOURCE_DIR}/action/action.py
           --program $<TARGET_FILE:ecocompute> --source ${CMAKE_SOURCE_DIR})
  set_tests_properties(cli/action PROPERTIES LABELS cli TIMEOUT 120)
  file(GLOB audit_texts ${CMAKE_CURRENT_SOURCE_DIR}/conformance/audit*.jsonl)
  add_test(NAME cli/audit_zh COMMAND ${python} ${CMAKE_CURRENT_SOURCE_DIR}/cli/audit_zh.py
           --program $<TARGET_FILE:ecocompute> ${audit_texts})
  set_tests_properties(cli/audit_zh PROPERTIES LABELS cli TIMEOUT 120)
  add_test(NAME cli/skill COMMAND ${python} ${CMAKE_CURRENT_SOURCE_DIR}/skill/skill.py
           --program $<TARGET_FILE:ecocompute> --source ${CMAKE_SOURCE_DIR})
  set_tests_properties(cli/skill PROPERTIES LABELS cli TIMEOUT 120)
endif()

if(ECO_LINT)
  # check(NAME ARGUMENT...): tools/check-NAME as a test. tests/lint proves that each can fail.
  function(eco_add_check name)
    add_test(NAME lint/${name} COMMAND ${CMAKE_SOURCE_DIR}/tools/check-${name} ${ARGN})
    set_tests_properties(lint/${name} PROPERTIES LABELS lint TIMEOUT 600)
  endfunction()
  eco_add_check(format)
  eco_add_check(headers)
  eco_add_check(includes)
  eco_add_check(names)
  eco_add_check(sizes)
  eco_add_check(words)
  eco_add_check(symbols ${CMAKE_BINARY_DIR})
  eco_add_check(cppcheck)
  eco_add_check(tidy ${CMAKE_BINARY_DIR})
  # the longest first, after those that mostly sleep; each starts JOBS processes, two in the suite
  set_tests_properties(lint/tidy PROPERTIES COST 100 PROCESSORS 2 TIMEOUT 1500)
  set_tests_properties(lint/cppcheck PROPERTIES COST 80 PROCESSORS 2)
  add_test(NAME lint/errors_zh COMMAND /usr/bin/python3 ${CMAKE_CURRENT_SOURCE_DIR}/lint/errors_zh.py
           ${CMAKE_SOURCE_DIR})
  set_tests_properties(lint/errors_zh PROPERTIES LABELS lint TIMEOUT 60)
  add_test(NAME lint/selftest COMMAND ${CMAKE_CURRENT_SOURCE_DIR}/lint/selftest.sh)
  set_tests_properties(lint/selftest PROPERTIES LABELS lint TIMEOUT 300)
  find_program(ECO_ANY_CLANG NAMES clang clang-14)
  if(ECO_ANY_CLANG)
    add_test(NAME lint/linker COMMAND ${CMAKE_CURRENT_SOURCE_DIR}/lint/linker.sh ${CMAKE_SOURCE_DIR}
             ${ECO_ANY_CLANG})
    set_tests_properties(lint/linker PROPERTIES LABELS lint TIMEOUT 300)
  endif()
endif()

if(TARGET ecocompute)
  # what the protocols say, exactly, and what holds for all of it; a foreign number must be found
  set(golden ${CMAKE_CURRENT_SOURCE_DIR}/golden)
  set(without)
  if(NOT ECO_AUDIT_BUILT)
    set(without --without=audit)
  endif()
  add_test(NAME golden/scenarios COMMAND ${python} ${golden}/golden.py
           --program $<TARGET_FILE:ecocompute> ${without})
  add_test(NAME golden/properties COMMAND ${python} ${golden}/properties.py
           --program $<TARGET_FILE:ecocompute> ${without})
  add_test(NAME golden/injected COMMAND ${python} ${golden}/properties.py
           --program $<TARGET_FILE:ecocompute> ${without} --first 12 --inject 271.828)
  add_test(NAME golden/agree COMMAND ${python} ${golden}/agree.py
           --program $<TARGET_FILE:ecocompute>)
  set_tests_properties(golden/scenarios golden/properties golden/injected golden/agree
                       PROPERTIES LABELS cli TIMEOUT 300)

  # argv and JSON agree, in answers and in errors
  add_test(NAME sync/argv-json COMMAND ${python} ${CMAKE_CURRENT_SOURCE_DIR}/sync/sync.py
           --program $<TARGET_FILE:ecocompute>)
  set_tests_properties(sync/argv-json PROPERTIES LABELS cli TIMEOUT 300)
endif()

if(TARGET ecocompute AND NOT ECO_SANITIZE) # a minute under sanitizers, and the same numbers
  add_test(NAME cli/calibration COMMAND ${python} ${CMAKE_CURRENT_SOURCE_DIR}/cli/calibration.py
           --program $<TARGET_FILE:ecocompute>)
  set_tests_properties(cli/calibration PROPERTIES LABELS cli TIMEOUT 300)
endif()

if(TARGET ecocompute-openai)
  # loopback servers that behave, and many that do not
  add_test(NAME cli/openai_worker COMMAND ${python} ${CMAKE_CURRENT_SOURCE_DIR}/cli/openai_worker.py
           --helper $<TARGET_FILE:ecocompute-openai>)
  set_tests_properties(cli/openai_worker PROPERTIES LABELS cli TIMEOUT 300)
endif()

foreach(worker transformers vllm) # with stand-ins for their packages
  add_test(NAME cli/worker_${worker}
           COMMAND ${python} ${CMAKE_CURRENT_SOURCE_DIR}/cli/python_workers.py ${worker})
  set_tests_properties(cli/worker_${worker} PROPERTIES LABELS cli TIMEOUT 300)
endforeach()

add_test(NAME cli/worker_env COMMAND ${python} ${CMAKE_CURRENT_SOURCE_DIR}/cli/worker_env.py)
set_tests_properties(cli/worker_env PROPERTIES LABELS cli TIMEOUT 300 SKIP_RETURN_CODE 77)

if(TARGET ecocompute)
  add_test(NAME cli/packaging COMMAND ${python} ${CMAKE_CURRENT_SOURCE_DIR}/cli/packaging.py
           --program $<TARGET_FILE:ecocompute>)
  set_tests_properties(cli/packaging PROPERTIES LABELS cli TIMEOUT 120)
endif()

if(TARGET ecocompute-openai AND NOT ECO_SANITIZE)
  add_test(NAME cli/openai_run COMMAND ${python} ${CMAKE_CURRENT_SOURCE_DIR}/cli/openai_run.py
           --program $<TARGET_FILE:ecocompute> --nvml $<TARGET_FILE:fake_nvml>)
  set_tests_properties(cli/openai_run PROPERTIES LABELS cli TIMEOUT 600)
endif()

if(TARGET ecocompute AND NOT ECO_SANITIZE) # the fake driver would need the sanitizer too
  add_test(NAME cli/notebook COMMAND ${python} ${CMAKE_CURRENT_SOURCE_DIR}/cli/notebook.py
           --program $<TARGET_FILE:ecocompute> --nvml $<TARGET_FILE:fake_nvml>)
  add_test(NAME cli/demo COMMAND ${python} ${CMAKE_CURRENT_SOURCE_DIR}/cli/demo.py
           --program $<TARGET_FILE:ecocompute> --nvml $<TARGET_FILE:fake_nvml>)
  set_tests_properties(cli/notebook cli/demo PROPERTIES LABELS cli TIMEOUT 900
                       SKIP_RETURN_CODE 77)
endif()

# The engine's tokenizers judged by others' (npm ci, python3-sentencepiece)
add_executable(tok_ids ${CMAKE_CURRENT_SOURCE_DIR}/peer/tok_ids.c)
eco_flags(tok_ids)
target_include_directories(tok_ids PRIVATE ${CMAKE_CURRENT_SOURCE_DIR})
target_link_libraries(tok_ids PRIVATE eco_engine m)
add_test(NAME peer/tokenizers COMMAND ${python} ${CMAKE_CURRENT_SOURCE_DIR}/peer/tokenizers.py
         --program $<TARGET_FILE:tok_ids> --modules ${CMAKE_SOURCE_DIR}/node_modules)
set_tests_properties(peer/tokenizers PROPERTIES LABELS peer TIMEOUT 300 SKIP_RETURN_CODE 77)
if(TARGET ecocompute)
  add_test(NAME cli/engine_text COMMAND ${python} ${CMAKE_CURRENT_SOURCE_DIR}/cli/engine_text.py
           --program $<TARGET_FILE:ecocompute> --maker $<TARGET_FILE:tok_ids>)
  set_tests_properties(cli/engine_text PROPERTIES LABELS cli TIMEOUT 300)
  add_test(NAME cli/measure_plain
           COMMAND ${python} ${CMAKE_CURRENT_SOURCE_DIR}/cli/measure_plain.py
                   --program $<TARGET_FILE:ecocompute> --maker $<TARGET_FILE:tok_ids>)
  set_tests_properties(cli/measure_plain PROPERTIES LABELS cli TIMEOUT 300)
endif()

if(TARGET ecocompute AND NOT ECO_SANITIZE)
  add_test(NAME cli/without_libraries COMMAND ${CMAKE_CURRENT_SOURCE_DIR}/cli/without_libraries.sh
           $<TARGET_FILE:ecocompute> ${CMAKE_SOURCE_DIR})
  set_tests_properties(cli/without_libraries PROPERTIES LABELS cli TIMEOUT 300)
endif()
