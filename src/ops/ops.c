/*
 * The main path: the one table of operations. A row is an operation: its names on every interface,
 * its parameters (args/args_*.def), its results (records/rec_*.def), its run function (ops_*.c) and
 * its view (view_*.c). To add an operation: a row here, two .def files, a run function, its test
 * and its page in docs/; tests/sync and `make lint` name whatever is missing.
 */
#include "op.h"
#include "param_tables.h"
#include "records.h"
#include "runs.h"
#include "views.h"

#include <string.h>

/* Fields every row has; the rest follows by name. */
#define ROW(op, line)                                                                              \
    .name = #op, .summary = line, .params = params_##op, .n_params = ECO_COUNT(params_##op),       \
    .args_size = sizeof(struct eco_args_##op), .result = &eco_rec_##op, .run = eco_run_##op

const struct eco_op eco_ops[] = {
    {ROW(estimate, "does quantization lower the energy per token here?"), .path = "/v1/estimate",
     .tool = "should_i_quantize", .batch = true, .view = eco_view_estimate,
     .no_fit = eco_estimate_no_fit,
     .about =
         "Predicts the change of energy per token of a precision against 16 bit, with its 95 % "
         "range for a session like yours, the measured pairs it leans on, the size and batch at "
         "which the sign changes, joules, time, memory, known traps and the month's bill.",
     .examples = "ecocompute estimate Qwen2.5-7B rtx4090 NF4\n"
                 "ecocompute estimate --model meta-llama/Llama-3.1-8B-Instruct --gpu h100 "
                 "--precision FP8 --engine vllm --batch 64\n"
                 "ecocompute estimate --params-b 13 --arch ampere --precision INT8 --json\n"
                 "ecocompute estimate --params-b 7 --arch ada --calibration published\n"},
    {ROW(optimize, "which configuration should I deploy?"), .path = "/v1/optimize",
     .tool = "recommend_config", .batch = true, .view = eco_view_optimize,
     .says_no = eco_optimize_says_no, .no_fit = eco_optimize_no_fit,
     .about =
         "Searches precision x batch x context (and cards) exhaustively within your budgets, and "
         "returns the best configuration, alternatives that really differ, the energy-latency "
         "front, and for impossible budgets the nearest configuration and what it breaks.",
     .examples = "ecocompute optimize Mistral-7B-v0.1 rtx4090\n"
                 "ecocompute optimize Qwen2.5-14B --gpus rtx4090,a100,h100 --objective min_cost "
                 "--max-latency-ms 50\n"
                 "ecocompute optimize --params-b 7 --arch ada --calibration published --compat\n"},
    {ROW(compare, "precisions side by side on one card"), .path = "/v1/compare",
     .tool = "compare_precisions", .batch = true, .view = eco_view_compare,
     .no_fit = eco_compare_no_fit,
     .about =
         "Ranks precisions by energy on the asked card, with change, joules, speed, memory, the "
         "month's bill and how each is known.",
     .examples = "ecocompute compare Qwen2.5-7B-Instruct rtx5090\n"
                 "ecocompute compare Llama-3.1-8B-Instruct a100 --precisions FP16,NF4,GPTQ-INT4\n"},
    {ROW(diagnose, "why is this run slow or hungry?"), .path = "/v1/diagnose", .tool = "diagnose",
     .batch = true, .view = eco_view_diagnose,
     .about =
         "Takes what you see (tokens per second, watts, joules) and says which known pattern it "
         "fits, how likely, what was expected, and what to change in which order.",
     .examples =
         "ecocompute diagnose Mistral-7B-v0.1 rtx4090d INT8 --throughput 9.5 --power-w 140\n"},
    {ROW(cost, "what does it cost, and what could it cost?"), .path = "/v1/cost",
     .tool = "estimate_cost", .batch = true, .view = eco_view_cost, .no_fit = eco_cost_no_fit,
     .about =
         "Electricity, money and CO2 of a month for today's configuration, for the best precision "
         "and for batching, with every assumption printed.",
     .examples = "ecocompute cost Mistral-7B-v0.1 a800 --requests 1000000\n"
                 "ecocompute cost Qwen2.5-7B rtx4090 NF4 --region France --requests 50000\n"
                 "ecocompute cost Mistral-7B-v0.1 a800 --users 10000 --persona ecolobster\n"
                 "ecocompute cost Yi-1.5-6B rtx4090d --characters 1000000 --lang zh\n"},
    {ROW(ask, "a question in English or Chinese"), .path = "/v1/ask", .tool = "ask", .batch = true,
     .view = eco_view_ask, .says_no = eco_ask_says_no, .no_fit = eco_ask_no_fit,
     .about =
         "Understands the question without a language model, prints the equivalent command first, "
         "lists what it did not use, and answers. --parse-only stops after the understanding. "
         "What the question leaves open is not guessed.",
     .examples =
         "ecocompute ask \"Is NF4 worth it for Qwen2.5-3B on an RTX 4090?\"\n"
         "ecocompute ask \"How much will Mistral-7B on A800 cost me for 1 million requests per "
         "month?\"\n"
         "ecocompute ask --parse-only \"批大小32，上下文8k，A100 INT8 13B\" --json\n"},
    {ROW(audit, "energy traps in code"), .path = "/v1/audit", .tool = "audit_code",
     .view = eco_view_audit, .says_no = eco_audit_says_no,
     .about =
         "Reads Python, notebooks, requirement files, Dockerfiles, YAML, TOML and shell, and finds "
         "what costs energy: default LLM.int8(), 4 bit on small models, FP8 run eagerly, loops of "
         "one request, nightly builds and more. Each finding says why, what it costs on your card "
         "and how to mend it. Silence one with '# ecocompute: ignore[rule]' on its line.",
     .examples = "ecocompute audit --text 'BitsAndBytesConfig(load_in_8bit=True)' --fail-on never\n"
                 "ecocompute audit --text 'BitsAndBytesConfig(load_in_8bit=True)' --gpu rtx4090 "
                 "--params-b 7\n"
                 "ecocompute audit --name requirements.txt --text 'torch==2.9.0.dev20260101' "
                 "--format sarif\n"},
    {ROW(measure, "measure on this machine; without a power source, answer from the data"),
     .tool = "measure_energy", .view = eco_view_measure,
     .about =
         "With --workload (worker:COMMAND or builtin) and a power source: the baseline and the "
         "precisions in balanced order, with the change and its range; docs/measuring.md. "
         "Otherwise energy.json, chart.svg and summary.md are derived from the data set, with "
         "a basis other than measured and the reason.",
     .examples = "ecocompute measure TinyLlama-1.1B-Chat-v1.0 rtx4090 --out ecocompute-out\n"},
    {ROW(engine, "the embedded decode engine by hand"), .view = eco_view_engine,
     .about =
         "bench: tokens per second, time to first token, time a step and bytes by tensor class of "
         "each precision. generate: goes on from --prompt, as text while it comes, or from token "
         "ids. perplexity: of a text file or of token ids, over windows. quantize: writes a GGUF "
         "file. Models are seeded random weights in a known shape (synthetic:NAME), Hugging Face "
         "folders and GGUF files of the Llama family.",
     .examples = "ecocompute engine bench synthetic:SmolLM2-135M --precision FP16,NF4 "
                 "--gen-tokens 4 --prompt-tokens 4 --runs 1\n"
                 "ecocompute engine generate synthetic:SmolLM2-135M --precision Q8_0 --ids 1,2,3 "
                 "--gen-tokens 4\n"},
    {ROW(doctor, "what can be measured here, and what is missing?"), .view = eco_view_doctor,
     .about =
         "Every power source with its state, the reason when it cannot be used and the command "
         "that would grant access; for usable ones the cost of a reading, how often it is fresh, "
         "what it averages over, the shortest window it can measure and when its counter wraps.",
     .examples = "ecocompute doctor\n"},
    {ROW(track, "the energy of any command, by every power source"), .view = eco_view_track,
     .says_no = eco_track_says_no,
     .about =
         "Runs the command, samples all power sources meanwhile and reads their counters before "
         "and after. The command's output goes to standard error. Rows of different boundaries are "
         "never added; a missing energy is null with its reason; below 5 s nothing is claimed.",
     .examples = "ecocompute track -- sleep 0.1\n"
                 "ecocompute track --format csv -- echo tokens=128\n"},
    {ROW(replay, "the energy of a window of recorded power"), .view = eco_view_replay,
     .says_no = eco_replay_says_no,
     .about =
         "The meter's integrator over a CSV table with a 't_s' column: edges clipped and "
         "interpolated, a 1 s average shifted by half of it, gaps reported, a card's published "
         "gain and offset undone, and an interval for what stays open. replay DIR: the folder of a "
         "measured run computed again; exit 1 when a number of its report is another one.",
     .examples = "ecocompute replay --power trace.csv --column power_instant_w --from 1 --to 9\n"
                 "ecocompute replay --power trace.csv --column power_draw_w --profile 'RTX 3090' "
                 "--json\n"},
    {ROW(report, "build, validate, show and share energy.json"), .path = "/v1/reports",
     .view = eco_view_report, .says_no = eco_report_says_no,
     .about =
         "build: a report derived from the data set. validate: exit 0 valid, 3 not, with the JSON "
         "pointer and the reason on stderr. show, markdown: for people. share: a link that holds "
         "the point itself, nothing is uploaded. overlay: the points of a link or report against "
         "the published curve. schema: our JSON Schema. compare A B: the differences of two "
         "reports with their ranges; exit 1 where their boundaries forbid it. import: the file of "
         "llama-bench, CodeCarbon or ML.ENERGY as a report. keygen, sign, verify: Ed25519 "
         "signatures; docs/report.md.",
     .examples = "ecocompute report build --model TinyLlama-1.1B-Chat-v1.0 --gpu rtx4090 "
                 "--precision NF4\n"
                 "ecocompute report build --model TinyLlama-1.1B-Chat-v1.0 --gpu rtx4090 "
                 "--out energy.json\n"
                 "ecocompute report validate energy.json\n"
                 "ecocompute report share energy.json\n"
                 "ecocompute report compare energy.json energy.json\n"
                 "ecocompute report keygen report.key\n"
                 "ecocompute report sign energy.json --key report.key --out signed.json\n"
                 "ecocompute report verify signed.json --public report.key.pub\n"},
    {ROW(data, "the measured data: list, show, export, audit"), .path = "/v1/data",
     .view = eco_view_data, .says_no = eco_data_says_no,
     .about =
         "list and export: the rows with grade, source and reason. show ID: one row with its "
         "baseline. audit FILE: the physical checks on a table of your own. path: the files and "
         "their digests.",
     .examples = "ecocompute data list --gpu rtx4090 --precision NF4\n"
                 "ecocompute data list --grade D --format csv\n"
                 "ecocompute data path\n"},
    {ROW(gpus, "the cards, or which card a driver's name is"), .path = "/v1/gpus", .tool = NULL,
     .view = eco_view_gpus,
     .about = "Datasheet figures and how many measured pairs stand behind each card.",
     .examples = "ecocompute gpus --arch ada\n"
                 "ecocompute gpus --detect \"NVIDIA GeForce RTX 4090\" --json\n"},
    {ROW(architectures, "GPU classes with published curves"), .path = "/v1/architectures",
     .tool = "list_architectures", .view = eco_view_architectures,
     .about =
         "The classes of the published calibration: the precisions with a curve, the sizes it was "
         "measured on and where its sign changes; hopper's answers are ampere's.",
     .examples = "ecocompute architectures\necocompute architectures --json\n"},
    {ROW(models, "the known models, or one read from files"), .path = "/v1/models",
     .view = eco_view_models,
     .about =
         "Shapes and exact parameter counts; a folder with config.json and safetensors or a .gguf "
         "file is read by its headers.",
     .examples = "ecocompute models qwen2.5\n"},
    {ROW(fit, "refit the curves, or judge both calibrations"), .view = eco_view_fit,
     .about = "Without options: refits the published curves and prints the default predictor's "
              "hyper-parameters. --check: leaves data out and reports errors and coverage.",
     .examples = "ecocompute fit\n"},
    {ROW(mcp, "the operations as tools of an assistant (Model Context Protocol)"),
     .view = eco_view_mcp,
     .about =
         "JSON-RPC over standard input and output: tools, resources and prompts for Claude, Cursor "
         "and other clients; docs/mcp.md says how to set them up. Opens no file for a client and "
         "measures nothing unless --allow-measure.",
     .examples = "ecocompute mcp --check\n"},
    {ROW(serve, "the HTTP API, the page and MCP over HTTP"), .check = eco_check_serve,
     .view = eco_view_serve, .says_no = eco_serve_says_no,
     .about =
         "Every operation with a path over GET and POST, /openapi.json, /mcp, /metrics, /healthz "
         "and the page; docs/api.md. Listens on 127.0.0.1 unless --bind says otherwise, opens no "
         "file for a request, and finishes what runs when it is told to end.",
     .examples = "ecocompute serve --check\n"
                 "ecocompute serve --check --bind 0.0.0.0 --port 80 --rate-limit 60\n"},
    {ROW(version, "version of the program and its data"), .view = eco_view_version,
     .about = "Program version, the SHA-256 of the data set, rows by grade.",
     .examples = "ecocompute version\necocompute version --data --json\n"},
};

const size_t eco_ops_count = ECO_COUNT(eco_ops);

const struct eco_op *eco_op_find(const char *name)
{
    if (strcmp(name, "sources") == 0) {
        name = "doctor"; /* the other name people try */
    }
    for (size_t i = 0; i < eco_ops_count; i++) {
        if (strcmp(eco_ops[i].name, name) == 0) {
            return &eco_ops[i];
        }
    }
    return NULL;
}
