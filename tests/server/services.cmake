# Tests of the services: HTTP against its own OpenAPI, load, MCP below and through the official SDK.
if(TARGET ecocompute)
  set(here ${CMAKE_CURRENT_LIST_DIR})
  # eco_service_test(NAME SCRIPT ARGUMENT...): 77 means left out, which the script says loudly
  function(eco_service_test name script)
    add_test(NAME ${name} COMMAND ${python} ${script} --program $<TARGET_FILE:ecocompute> ${ARGN})
    set_tests_properties(${name} PROPERTIES LABELS cli TIMEOUT 300 SKIP_RETURN_CODE 77)
  endfunction()
  eco_service_test(server/http_api ${here}/http_api.py)
  eco_service_test(server/store_api ${here}/store_api.py)
  add_test(NAME server/store_api_postgresql
           COMMAND ${here}/../unit/store/postgres.sh ${python} ${here}/store_api.py --program
                   $<TARGET_FILE:ecocompute>)
  eco_service_test(server/store_faults ${here}/store_faults.py)
  if(NOT ECO_SANITIZE) # the browser is no part of what is sanitized
    eco_service_test(server/form ${here}/form.py --modules ${ECO_NODE_MODULES})
  endif()
  add_test(NAME server/store_faults_postgresql
           COMMAND ${here}/../unit/store/postgres.sh ${python} ${here}/store_faults.py --program
                   $<TARGET_FILE:ecocompute>)
  set_tests_properties(server/store_api_postgresql server/store_faults_postgresql
                       PROPERTIES LABELS cli TIMEOUT 300 SKIP_RETURN_CODE 77)
  set(fake)
  if(NOT ECO_SANITIZE) # the fake driver would need the sanitizer too
    set(fake --nvml $<TARGET_FILE:fake_nvml>)
  endif()
  eco_service_test(server/metrics ${here}/metrics.py ${fake})
  eco_service_test(server/fuzz_http ${here}/fuzz_http.py)
  eco_service_test(server/load_slow ${here}/load.py slow_loris stopped_readers)
  eco_service_test(server/load_many ${here}/load.py idle_and_busy one_address drain)
  eco_service_test(mcp/protocol ${here}/../mcp/protocol.py)
  eco_service_test(mcp/sdk ${here}/../mcp/sdk.py --modules ${ECO_NODE_MODULES})
  eco_service_test(sync/services ${here}/../sync/services.py)
  if(NOT TARGET ecocompute-serve)
    message(NOTICE "-- tests of the server are SKIPPED: ecocompute-serve is not built")
  endif()
endif()
