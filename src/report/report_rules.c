/* Every field of energy.json: see report_rules.h. The text here is what the schema file says. */
#include "report_rules.h"

#include "eco_types.h"

#include <math.h>
#include <string.h>

/* R: optional, Q: required; the last three columns are minimum, unit and meaning. */
#define R(path, types, choices, min, unit, help)                                                   \
    {                                                                                              \
        path, types, false, choices, NULL, min, unit, help                                         \
    }
#define Q(path, types, choices, min, unit, help)                                                   \
    {                                                                                              \
        path, types, true, choices, NULL, min, unit, help                                          \
    }
#define P(path, types, required, choices, min)                                                     \
    {                                                                                              \
        path, types, required, choices, NULL, min, NULL, NULL                                      \
    }

#define SCENARIOS "SingleStream|Offline"
#define BASES "measured|interpolated|extrapolated|unavailable"
#define QUALITY_BASES "measured|unavailable"

/* The published 1.1 schema, as facts: what it types, what it requires. Other keys are free. */
static const struct eco_report_rule published[] = {
    P("", "o", true, NULL, NAN),
    P("schema_version", "s", true, NULL, NAN),
    P("benchmark", "s", true, NULL, NAN),
    P("follows_mlcommons_energy_reporting_conventions", "b", false, NULL, NAN),
    {"certified_benchmark_result", "b", false, NULL, "false", NAN, NULL, NULL},
    P("scenario", "s", true, SCENARIOS, NAN),
    P("timestamp_utc", "s", false, NULL, NAN),
    P("system_under_test", "o", true, NULL, NAN),
    P("system_under_test.gpu", "s", true, NULL, NAN),
    P("system_under_test.gpu_arch", "s", true, NULL, NAN),
    P("system_under_test.accelerator_count", "i", true, NULL, 1),
    P("system_under_test.host", "s", false, NULL, NAN),
    P("workload", "o", true, NULL, NAN),
    P("workload.model_name", "s", true, NULL, NAN),
    P("workload.params_b", "n0", false, NULL, NAN),
    P("workload.precision", "s", true, "FP16|NF4|INT8", NAN),
    P("workload.batch_size", "i", true, NULL, 1),
    P("workload.context_length", "i", false, NULL, NAN),
    P("measurement", "o", true, NULL, NAN),
    P("measurement.method", "s", true, NULL, NAN),
    P("measurement.sample_rate_hz", "i", true, NULL, NAN),
    P("measurement.tokens_per_run", "i", false, NULL, NAN),
    P("measurement.iterations", "i", false, NULL, NAN),
    P("measurement.warmup", "i", false, NULL, NAN),
    P("measurement.iterations_note", "s", false, NULL, NAN),
    P("software", "o", false, NULL, NAN),
    P("software.python", "s", false, NULL, NAN),
    P("software.packages", "o", false, NULL, NAN),
    P("software.packages.*", "s", false, NULL, NAN),
    P("software.torch_cuda", "s", false, NULL, NAN),
    P("software.nvidia_driver", "s", false, NULL, NAN),
    P("software.reference_pins", "o", false, NULL, NAN),
    P("software.reference_pins.*", "s", false, NULL, NAN),
    P("software.matches_reference_pins", "b", false, NULL, NAN),
    P("software.differs_from_reference_pins", "a", false, NULL, NAN),
    P("software.differs_from_reference_pins[]", "s", false, NULL, NAN),
    P("measurement_source", "s", false, NULL, NAN),
    P("results", "o", true, NULL, NAN),
    P("results.total_energy_joules", "n0", false, NULL, NAN),
    P("results.tokens_generated", "n0", false, NULL, NAN),
    P("results.energy_per_token_mj", "n0", true, NULL, NAN),
    P("results.fp16_energy_per_token_mj", "n0", false, NULL, NAN),
    P("results.vs_fp16_energy_pct", "n0", false, NULL, NAN),
    P("results.avg_power_watts", "n0", false, NULL, NAN),
    P("results.throughput_tokens_per_s", "n0", false, NULL, NAN),
    P("results.basis", "s", true, BASES, NAN),
    P("results.note", "s", false, NULL, NAN),
    P("quality", "o", false, NULL, NAN),
    P("quality.metric", "s", true, "perplexity", NAN),
    P("quality.basis", "s", true, QUALITY_BASES, NAN),
    P("quality.value", "n0", false, NULL, NAN),
    P("quality.fp16_value", "n0", false, NULL, NAN),
    P("quality.delta_vs_fp16_pct", "n0", false, NULL, NAN),
    P("quality.mean_nll", "n0", false, NULL, NAN),
    P("quality.tokens_evaluated", "i0", false, NULL, NAN),
    P("quality.windows", "i0", false, NULL, NAN),
    P("quality.seq_len", "i0", false, NULL, NAN),
    P("quality.corpus", "o0", false, NULL, NAN),
    P("quality.corpus.name", "s", false, NULL, NAN),
    P("quality.corpus.bytes", "i", false, NULL, NAN),
    P("quality.corpus.sha256", "s", false, NULL, NAN),
    P("quality.note", "s", false, NULL, NAN),
    P("quality.error", "s", false, NULL, NAN),
    P("provenance", "o", false, NULL, NAN),
    P("notice", "s", false, NULL, NAN),
    P("trademark_notice", "s", false, NULL, NAN),
};

/* A change against the baseline, the same five fields in each of the three energies. */
#define DELTA(at, which)                                                                           \
    R(at ".vs_fp16_energy_pct", "n0", NULL, -100, "%",                                             \
      "Change of energy per token against the 16-bit baseline" which                               \
      ": 100 (E_q - E_base)/E_base; "                                                              \
      "negative saves."),                                                                          \
        R(at ".vs_fp16_ci95_pct", "a0", NULL, NAN, "%",                                            \
          "95 % interval of that change: [low, high]; null when n = 1, which has none."),          \
        R(at ".vs_fp16_ci95_pct[]", "n", NULL, NAN, "%", "One end of the interval, low first."),   \
        R(at ".vs_fp16_n", "i0", NULL, 0, NULL, "Blocks behind the change; 0 when derived."),      \
        R(at ".vs_fp16_method", "s0", NULL, NAN, NULL, "How the interval was made, in words."),    \
        R(at ".verdict", "s0", "saves|costs|cannot tell", NAN, NULL,                               \
          "Whether quantizing saves energy, given the interval."),                                 \
        R(at ".trials_to_resolve", "i0", NULL, 0, NULL,                                            \
          "Blocks that would settle a 'cannot tell'; null when settled or not known.")

#define LATENCY(at)                                                                                \
    R(at ".ttft_s", "n0", NULL, 0, "s", "Time to first token, mean."),                             \
        R(at ".tpot_mean_s", "n0", NULL, 0, "s", "Time per output token, mean."),                  \
        R(at ".tpot_p50_s", "n0", NULL, 0, "s", "Time per output token, median."),                 \
        R(at ".tpot_p99_s", "n0", NULL, 0, "s", "Time per output token, 99th percentile.")

#define RANGE(path, unit, help)                                                                    \
    R(path, "a0", NULL, NAN, unit, help),                                                          \
        R(path "[]", "n", NULL, NAN, unit, "One end of the band, low first.")

static const struct eco_report_rule ours[] = {
    Q("", "o", NULL, NAN, NULL,
      "One arm (one precision) of an ecocompute run: what was measured, or, without a power "
      "source, "
      "what was derived from the data set. null means not known; it never means zero."),
    {"schema_version", "s", true, NULL, "\"ecocompute-energy/1.1\"", NAN, NULL,
     "The published schema this report is a superset of."},
    {"report_version", "i", true, NULL, "1", NAN, NULL,
     "Version of the fields that ecocompute adds; its presence selects this schema."},
    Q("benchmark", "s", NULL, NAN, NULL, "Name of the method: ecocompute-energy-methodology."),
    R("follows_mlcommons_energy_reporting_conventions", "b", NULL, NAN, NULL,
      "Published field; ecocompute does not write it."),
    {"certified_benchmark_result", "b", true, NULL, "false", NAN, NULL,
     "Always false: nobody certified this result."},
    Q("scenario", "s", SCENARIOS, NAN, NULL, "SingleStream: one sequence; Offline: a batch."),
    R("scenario_note", "s0", NULL, NAN, NULL, "Remark on the scenario."),
    Q("timestamp_utc", "s", NULL, NAN, NULL, "When the run began, RFC 3339 in UTC."),
    Q("partial", "b", NULL, NAN, NULL,
      "true: the run was interrupted; only finished trials count."),
    Q("protocol", "o", NULL, NAN, NULL, "The measuring protocol."),
    Q("protocol.name", "s", "v1|custom", NAN, NULL, "v1 is comparable with the published data."),
    Q("protocol.differences", "a", NULL, NAN, NULL, "What differs from v1; empty for v1."),
    R("protocol.differences[]", "s", NULL, NAN, NULL, "One difference, in words."),
    Q("system_under_test", "o", NULL, NAN, NULL, "The hardware."),
    Q("system_under_test.gpu", "s", NULL, NAN, NULL,
      "Name of the device that ran: the accelerator, or the processor where no other ran."),
    Q("system_under_test.gpu_arch", "s", NULL, NAN, NULL, "Architecture, or unknown."),
    Q("system_under_test.accelerator_count", "i", NULL, 1, NULL, "Accelerators the workload used."),
    R("system_under_test.host", "s", NULL, NAN, NULL,
      "Operating system and C library; no host name."),
    Q("system_under_test.boundary", "s",
      "none|gpu-board|gpu-module|cpu-package|cpu-package+dram|soc|wall", NAN, NULL,
      "Where the joules were counted; none when nothing was measured. Boundaries never mix."),
    Q("workload", "o", NULL, NAN, NULL, "What ran."),
    Q("workload.model_name", "s", NULL, NAN, NULL, "Model id, or the last part of its path."),
    Q("workload.params_b", "n0", NULL, 0, "1e9 parameters", "Nominal model size."),
    R("workload.params_total", "i0", NULL, 0, "parameters", "Exact count, tied tables once."),
    R("workload.params_active", "i0", NULL, 0, "parameters", "Parameters read per token."),
    R("workload.shape_basis", "s0", NULL, NAN, NULL,
      "computed: from the model's files; interpolated: from its size."),
    {"workload.precision", "s", true, "*", NULL, NAN, NULL,
     "Number format of the weights. INT8 is LLM.int8() with its default threshold (INT8-MIXED); "
     "INT8-PURE (threshold 0) is never written INT8."},
    R("workload.precision_exact", "s", NULL, NAN, NULL, "The same by its full name: INT8-MIXED."),
    R("workload.engine", "s0", NULL, NAN, NULL, "What produced the tokens: transformers, vllm …"),
    R("workload.weights", "s0", "real|synthetic", NAN, NULL,
      "synthetic: seeded random weights in the model's exact shape."),
    R("workload.backend", "s0", NULL, NAN, NULL,
      "What the embedded engine computed with: ecocompute-cpu; null for other engines."),
    Q("workload.batch_size", "i", NULL, 1, "sequences", "Sequences generated together."),
    R("workload.context_length", "i", NULL, 0, "tokens", "Context the run was made for."),
    R("workload.prompt_tokens", "i0", NULL, 0, "tokens", "Prompt length of one sequence."),
    R("workload.generated_tokens", "i0", NULL, 0, "tokens", "Tokens generated for one sequence."),
    Q("measurement", "o", NULL, NAN, NULL, "How it was measured."),
    Q("measurement.method", "s", NULL, NAN, NULL, "The method, in words."),
    Q("measurement.sample_rate_hz", "i", NULL, 0, "Hz", "Power samples a second; 0: none taken."),
    R("measurement.tokens_per_run", "i", NULL, 0, "tokens", "Tokens of one iteration."),
    R("measurement.iterations", "i", NULL, 0, NULL, "Generations inside one window."),
    R("measurement.warmup", "i", NULL, 0, NULL, "Generations before the window."),
    R("measurement.blocks", "i", NULL, 0, NULL, "Blocks; every arm runs once in each."),
    R("measurement.iterations_note", "s", NULL, NAN, NULL, "Remark on the iterations."),
    R("measurement.seed", "s", NULL, NAN, NULL, "Seed of the random order, decimal."),
    Q("software", "o", NULL, NAN, NULL, "What software ran."),
    Q("software.ecocompute", "s", NULL, NAN, NULL, "Version of ecocompute."),
    R("software.python", "s", NULL, NAN, NULL, "Python version of a worker."),
    R("software.packages", "o", NULL, NAN, NULL, "Packages of the worker and their versions."),
    R("software.packages.*", "s", NULL, NAN, NULL, "Version."),
    R("software.torch_cuda", "s", NULL, NAN, NULL, "CUDA version the framework was built for."),
    R("software.nvidia_driver", "s", NULL, NAN, NULL, "Driver version."),
    R("software.reference_pins", "o", NULL, NAN, NULL,
      "Versions the published data was made with."),
    R("software.reference_pins.*", "s", NULL, NAN, NULL, "Version."),
    R("software.matches_reference_pins", "b", NULL, NAN, NULL, "All versions equal the pins."),
    R("software.differs_from_reference_pins", "a", NULL, NAN, NULL, "Packages that differ."),
    R("software.differs_from_reference_pins[]", "s", NULL, NAN, NULL, "Package name."),
    Q("measurement_source", "s", NULL, NAN, NULL,
      "The power source, or why nothing was measured on this machine."),
    Q("results", "o", NULL, NAN, NULL,
      "Protocol v1: one window over the back-to-back generations, prefill inside, divided by all "
      "generated tokens; comparable with the published data."),
    Q("results.total_energy_joules", "n0", NULL, 0, "J", "Energy of the windows of all trials."),
    Q("results.tokens_generated", "i0", NULL, 0, "tokens", "Tokens generated in those windows."),
    Q("results.energy_per_token_mj", "n0", NULL, 0, "mJ",
      "Energy per generated token; 1 mJ a token is 1 J per 1000 tokens."),
    Q("results.fp16_energy_per_token_mj", "n0", NULL, 0, "mJ", "The same of the baseline."),
    DELTA("results", ""),
    Q("results.avg_power_watts", "n0", NULL, 0, "W", "Mean power in the windows."),
    Q("results.throughput_tokens_per_s", "n0", NULL, 0, "tokens/s", "Generated tokens a second."),
    Q("results.basis", "s", BASES, NAN, NULL,
      "measured: on this machine in this run. interpolated, extrapolated: from the data set."),
    Q("results.level", "s", "L0|L1|L2|L3", NAN, NULL,
      "L0 estimate; L1 one source, one trial; L2 two agreeing sources, n >= 3, balanced order; L3 "
      "external meter."),
    Q("results.dropped_samples", "i0", NULL, 0, "samples", "Power samples missed or failed."),
    R("results.note", "s", NULL, NAN, NULL, "Remark."),
    Q("results.reason", "s0", NULL, NAN, NULL,
      "Why values are null or not measured; null when everything was measured."),
    R("headline", "o", NULL, NAN, NULL,
      "Which block is shown first: the hardware counter's where it knows energy and change, else "
      "results. Points on published curves are results, whatever leads."),
    Q("headline.block", "s", "ecocompute|results", NAN, NULL, "The block that leads."),
    R("headline.instrument", "s0", NULL, NAN, NULL,
      "What measured it; null when nothing was measured."),
    R("headline.cross_check_pct", "n0", NULL, NAN, "%",
      "Energy per token by the other instrument against the headline; null: there is none."),
    Q("ecocompute", "o", NULL, NAN, NULL,
      "The same windows by the hardware energy counter, edges aligned, sensor profile applied."),
    Q("ecocompute.basis", "s", BASES, NAN, NULL, "As results.basis."),
    Q("ecocompute.reason", "s0", NULL, NAN, NULL, "Why the fields below are null."),
    R("ecocompute.energy_per_token_mj", "n0", NULL, 0, "mJ", "Gross energy per generated token."),
    R("ecocompute.fp16_energy_per_token_mj", "n0", NULL, 0, "mJ",
      "The same of the baseline, by the counter."),
    R("ecocompute.net_energy_per_token_mj", "n0", NULL, NAN, "mJ",
      "Net of the idle power with the model resident."),
    DELTA("ecocompute", ", by the counter"),
    R("ecocompute.counter_gap_frac", "n0", NULL, NAN, "1",
      "(counter - integral of the samples) / counter."),
    R("ecocompute.peak_power_watts", "n0", NULL, 0, "W", "Largest power sample."),
    LATENCY("ecocompute"),
    Q("decode", "o", NULL, NAN, NULL, "Decoding alone: (E[N tokens] - E[1 token]) / (N - 1)."),
    Q("decode.basis", "s", BASES, NAN, NULL, "As results.basis."),
    Q("decode.reason", "s0", NULL, NAN, NULL, "Why the fields below are null."),
    R("decode.energy_per_token_mj", "n0", NULL, NAN, "mJ", "Energy per decoded token."),
    R("decode.prefill_energy_joules", "n0", NULL, 0, "J", "Energy of one prefill, own window."),
    DELTA("decode", ", decoding alone"),
    R("sessions", "o", NULL, NAN, NULL,
      "What another session would show: cards, days and set-ups differ by more than trials do."),
    Q("sessions.n", "i", NULL, 0, "sessions", "Sessions behind this report; 0: nothing measured."),
    Q("sessions.between_sd_pct", "n0", NULL, 0, "%",
      "Spread between sessions of the energy ratio, one standard deviation; see basis. null: not "
      "known."),
    Q("sessions.basis", "s0", "measured|data set", NAN, NULL,
      "Where that spread is from: these sessions, or the data set's for this precision."),
    RANGE("sessions.vs_fp16_ci95_pct", "%",
          "95 % range of the headline's change in another session: [low, high]."),
    R("sessions.reason", "s0", NULL, NAN, NULL, "Why these are null, or not measured."),
    Q("prediction", "o0", NULL, NAN, NULL,
      "What the data set says about this configuration; null when it says nothing."),
    Q("prediction.basis", "s", "measured|interpolated|extrapolated|estimated|modelled|computed",
      NAN, NULL, "How the prediction relates to the data."),
    Q("prediction.confidence", "s", "none|low|medium|high", NAN, NULL,
      "Coarse word for the width."),
    Q("prediction.calibration", "s0", NULL, NAN, NULL, "ecocompute or published."),
    R("prediction.gpu", "s", NULL, NAN, NULL,
      "Device the prediction is for, where it is not the one that ran."),
    R("prediction.gpu_arch", "s", NULL, NAN, NULL, "Its architecture."),
    Q("prediction.vs_fp16_energy_pct", "n0", NULL, -100, "%", "Median of the predicted change."),
    RANGE("prediction.ci50_pct", "%", "Central 50 % band of the change: [low, high]."),
    RANGE("prediction.ci80_pct", "%", "Central 80 % band."),
    RANGE("prediction.ci95_pct", "%", "Central 95 % band."),
    Q("prediction.energy_per_token_mj", "n0", NULL, 0, "mJ", "Predicted energy per token."),
    RANGE("prediction.energy_ci95_mj", "mJ", "Central 95 % band of it."),
    Q("prediction.fp16_energy_per_token_mj", "n0", NULL, 0, "mJ", "The same of the baseline."),
    R("prediction.crossover_b", "n0", NULL, 0, "1e9 parameters",
      "Size at which the change turns its sign; null when there is none."),
    R("prediction.crossover_saves", "s0", "above|below", NAN, NULL,
      "Side of that size on which quantizing saves; null: no crossover."),
    R("prediction.p_saves_frac", "n0", NULL, 0, "1", "Probability that quantizing saves energy."),
    R("prediction.rows", "i0", NULL, 0, NULL, "Measured rows it leans on."),
    R("prediction.sessions", "i0", NULL, 0, NULL, "Sessions those rows come from."),
    R("prediction.reason", "s0", NULL, NAN, NULL, "One plain sentence."),
    Q("statistics", "o", NULL, NAN, NULL,
      "Spread of energy per token over the trials of this arm, protocol v1."),
    Q("statistics.n", "i", NULL, 0, "trials", "Trials; iterations inside a window do not count."),
    Q("statistics.mean_mj", "n0", NULL, 0, "mJ", "Mean energy per token."),
    Q("statistics.sd_mj", "n0", NULL, 0, "mJ", "Standard deviation; null below n = 2."),
    Q("statistics.cv_frac", "n0", NULL, 0, "1", "sd / mean."),
    R("statistics.df", "n0", NULL, 0, NULL, "Degrees of freedom of the interval."),
    R("statistics.counter", "o", NULL, NAN, NULL, "The same by the hardware counter."),
    Q("statistics.counter.n", "i", NULL, 0, "trials", "Trials."),
    Q("statistics.counter.mean_mj", "n0", NULL, 0, "mJ", "Mean energy per token."),
    Q("statistics.counter.sd_mj", "n0", NULL, 0, "mJ", "Standard deviation."),
    Q("statistics.counter.cv_frac", "n0", NULL, 0, "1", "sd / mean."),
    R("statistics.counter.df", "n0", NULL, 0, NULL, "Degrees of freedom of its interval."),
    R("sweep", "a", NULL, NAN, NULL,
      "The same arms at other batches or power limits; absent where nothing was varied."),
    R("sweep[]", "o", NULL, NAN, NULL, "One step, in rising order of what varies."),
    Q("sweep[].batch_size", "i0", NULL, 1, "sequences", "Sequences generated together."),
    Q("sweep[].power_limit_watts", "n0", NULL, 0, "W", "Limit read back; null: not changed."),
    Q("sweep[].energy_per_token_mj", "n0", NULL, 0, "mJ",
      "Energy per generated token, as the headline counts it."),
    Q("sweep[].fp16_energy_per_token_mj", "n0", NULL, 0, "mJ", "The same of the baseline."),
    DELTA("sweep[]", ", in this step"),
    R("sweep[].avg_power_watts", "n0", NULL, 0, "W", "Mean power in the windows."),
    R("sweep[].throughput_tokens_per_s", "n0", NULL, 0, "tokens/s", "Generated tokens a second."),
    Q("sweep[].reason", "s0", NULL, NAN, NULL, "Why values are null."),
    R("batch_crossover", "n0", NULL, 1, "sequences",
      "Batch where the sign of the change flips, between two measured ones; null: it does not."),
    Q("trials", "a", NULL, NAN, NULL, "One entry a trial of this arm, in time order."),
    R("trials[]", "o", NULL, NAN, NULL, "A warm-up and a window."),
    Q("trials[].block", "i", NULL, 0, NULL, "Block, from 0."),
    Q("trials[].position", "i", NULL, 0, NULL, "Place in the block, from 0."),
    Q("trials[].discarded", "b", NULL, NAN, NULL, "Not counted: warm-up block or repeated."),
    Q("trials[].flags", "a", NULL, NAN, NULL, "What went wrong."),
    R("trials[].flags[]", "s", "throttled|contaminated|idle_timeout", NAN, NULL, "One flag."),
    Q("trials[].window_s", "n0", NULL, 0, "s", "Length of the window."),
    Q("trials[].iterations", "i0", NULL, 0, NULL, "Generations in the window."),
    Q("trials[].tokens", "i0", NULL, 0, "tokens", "All generated tokens of the window."),
    R("trials[].decode_tokens", "i0", NULL, 0, "tokens",
      "Generated - 1 per sequence, times batch."),
    Q("trials[].energy_joules", "n0", NULL, 0, "J", "Protocol v1 energy of the window."),
    R("trials[].energy_counter_joules", "n0", NULL, 0, "J", "By the hardware counter."),
    R("trials[].energy_integral_joules", "n0", NULL, 0, "J", "By the samples, shift and profile."),
    R("trials[].avg_power_watts", "n0", NULL, 0, "W", "Mean power."),
    R("trials[].peak_power_watts", "n0", NULL, 0, "W", "Largest sample."),
    R("trials[].idle_before_watts", "n0", NULL, 0, "W", "Idle power with the model resident."),
    R("trials[].temp_start_c", "n0", NULL, NAN, "degree C", "Temperature at the start."),
    R("trials[].temp_end_c", "n0", NULL, NAN, "degree C", "Temperature at the end."),
    R("trials[].clock_mean_mhz", "n0", NULL, 0, "MHz", "Mean processor clock."),
    R("trials[].throughput_tokens_per_s", "n0", NULL, 0, "tokens/s", "Generated tokens a second."),
    LATENCY("trials[]"),
    R("trials[].samples", "i0", NULL, 0, "samples", "Power samples taken."),
    R("trials[].dropped_samples", "i0", NULL, 0, "samples", "Power samples missed or failed."),
    Q("phases", "a", NULL, NAN, NULL, "Named stretches of the run, for the power chart."),
    R("phases[]", "o", NULL, NAN, NULL, "One stretch."),
    Q("phases[].name", "s", NULL, NAN, NULL, "idle, load, warmup, window, prefill, decode."),
    R("phases[].trial", "i0", NULL, 0, NULL, "Trial it belongs to; null: the whole run."),
    Q("phases[].start_s", "n0", NULL, NAN, "s", "Start, since the run began."),
    Q("phases[].end_s", "n0", NULL, NAN, "s", "End, since the run began."),
    R("phases[].energy_joules", "n0", NULL, 0, "J", "Energy of the stretch."),
    R("phases[].avg_power_watts", "n0", NULL, 0, "W", "Mean power of the stretch."),
    Q("energy_sources", "a", NULL, NAN, NULL, "Every power source that was looked for."),
    R("energy_sources[]", "o", NULL, NAN, NULL, "One source."),
    Q("energy_sources[].name", "s", NULL, NAN, NULL, "nvml, rapl, amdgpu …"),
    Q("energy_sources[].status", "s", "used|available|unavailable", NAN, NULL, "What came of it."),
    Q("energy_sources[].reason", "s0", NULL, NAN, NULL, "Why it is unavailable, and what to do."),
    R("energy_sources[].device", "s0", NULL, NAN, NULL, "Device, as the source names it."),
    Q("energy_sources[].boundary", "s", NULL, NAN, NULL, "As system_under_test.boundary."),
    R("energy_sources[].field", "s0", NULL, NAN, NULL, "Which instrument of the source."),
    R("energy_sources[].driver", "s0", NULL, NAN, NULL, "Driver or kernel version."),
    R("energy_sources[].refresh_s", "n0", NULL, 0, "s", "Detected refresh period."),
    R("energy_sources[].averaging_s", "n0", NULL, 0, "s", "Detected averaging window."),
    R("energy_sources[].read_cost_s", "n0", NULL, 0, "s", "Time one read takes, median."),
    R("energy_sources[].resolution_joules", "n0", NULL, 0, "J", "One count of the counter."),
    Q("idle", "o", NULL, NAN, NULL, "Power without work, and what the observer itself costs."),
    Q("idle.without_model_watts", "n0", NULL, 0, "W", "Idle power before the model is loaded."),
    Q("idle.with_model_watts", "n0", NULL, 0, "W", "Idle power with the model resident."),
    R("idle.observer_watts", "n0", NULL, NAN, "W", "Power with the sampler on minus off."),
    R("idle.observer_cpu_frac", "n0", NULL, 0, "1", "Share of one core the sampler takes."),
    Q("idle.reason", "s0", NULL, NAN, NULL, "Why these are null."),
    Q("preflight", "a", NULL, NAN, NULL, "Checks made before the first model was loaded."),
    R("preflight[]", "o", NULL, NAN, NULL, "One check."),
    Q("preflight[].name", "s", NULL, NAN, NULL, "What was checked."),
    Q("preflight[].status", "s", "ok|warning|refused|skipped", NAN, NULL, "What came of it."),
    Q("preflight[].detail", "s0", NULL, NAN, NULL, "With numbers and units."),
    Q("environment", "o", NULL, NAN, NULL, "The machine's state; never its name or its user's."),
    R("environment.os", "s0", NULL, NAN, NULL, "Operating system and kernel."),
    R("environment.cpu", "s0", NULL, NAN, NULL, "Processor model."),
    R("environment.power_limit_watts", "n0", NULL, 0, "W", "Power limit in force."),
    R("environment.clock_sm_mhz", "n0", NULL, 0, "MHz", "Processor clock at the start."),
    R("environment.clock_mem_mhz", "n0", NULL, 0, "MHz", "Memory clock at the start."),
    R("environment.persistence", "b0", NULL, NAN, NULL, "Persistence mode of the driver."),
    R("environment.ecc", "b0", NULL, NAN, NULL, "Error-correcting memory."),
    R("quality", "o", NULL, NAN, NULL, "Perplexity of this arm; it never touches the energy."),
    Q("quality.metric", "s", "perplexity", NAN, NULL, "Always perplexity."),
    Q("quality.basis", "s", QUALITY_BASES, NAN, NULL, "unavailable: see error."),
    R("quality.value", "n0", NULL, 0, NULL, "Perplexity of this arm."),
    R("quality.fp16_value", "n0", NULL, 0, NULL, "Perplexity of the baseline on the same bytes."),
    R("quality.delta_vs_fp16_pct", "n0", NULL, NAN, "%", "Change of perplexity."),
    R("quality.mean_nll", "n0", NULL, NAN, "nat", "Mean negative log likelihood of a token."),
    R("quality.tokens_evaluated", "i0", NULL, 0, "tokens", "Tokens scored."),
    R("quality.windows", "i0", NULL, 0, NULL, "Windows scored; they do not overlap."),
    R("quality.seq_len", "i0", NULL, 0, "tokens", "Length of a window."),
    R("quality.corpus", "o0", NULL, NAN, NULL, "The text."),
    R("quality.corpus.name", "s", NULL, NAN, NULL, "File name."),
    R("quality.corpus.bytes", "i", NULL, 0, "bytes", "Length."),
    R("quality.corpus.sha256", "s", NULL, NAN, NULL, "Digest, 64 hex digits."),
    R("quality.note", "s", NULL, NAN, NULL, "Remark."),
    R("quality.error", "s", NULL, NAN, NULL, "Why it is unavailable."),
    Q("warnings", "a", NULL, NAN, NULL,
      "What a reader must know; each says what was done instead."),
    R("warnings[]", "s", NULL, NAN, NULL, "One warning."),
    Q("provenance", "o", NULL, NAN, NULL, "Where the numbers come from."),
    Q("provenance.tool", "s", NULL, NAN, NULL, "Program and version that wrote this file."),
    Q("provenance.dataset_doi", "s", NULL, NAN, NULL, "DOI of the measured data."),
    R("provenance.rtx4090_deep_dive_doi", "s", NULL, NAN, NULL, "DOI of the RTX 4090 data."),
    R("provenance.data_version", "s0", NULL, NAN, NULL, "Version of the compiled-in data set."),
    R("provenance.licence", "s", NULL, NAN, NULL, "Licence of the data."),
    Q("data_sha256", "s0", NULL, NAN, NULL,
      "SHA-256 over the digests of every data file that was compiled in, 64 hex digits."),
    Q("notice", "s", NULL, NAN, NULL, "That this is no certified benchmark result."),
    R("trademark_notice", "s", NULL, NAN, NULL, "Published field; ecocompute does not write it."),
    R("share_url", "s0", NULL, NAN, NULL, "Link that shows this point; nothing was uploaded."),
    R("signature", "o", NULL, NAN, NULL, "Ed25519 over the canonical form without this member."),
    Q("signature.algorithm", "s", "ed25519", NAN, NULL, "Always ed25519."),
    Q("signature.public_key", "s", NULL, NAN, NULL, "Base64url, 32 bytes."),
    Q("signature.value", "s", NULL, NAN, NULL, "Base64url, 64 bytes."),
};

const struct eco_report_rule *eco_report_rules(bool want_ours, size_t *count)
{
    if (want_ours) {
        *count = sizeof(ours) / sizeof(ours[0]);
        return ours;
    }
    *count = sizeof(published) / sizeof(published[0]);
    return published;
}

bool eco_report_rule_within(const struct eco_report_rule *root, const struct eco_report_rule *rule)
{
    size_t len = strlen(root->path);
    if (len == 0)
        return true;
    if (strncmp(root->path, rule->path, len) != 0)
        return false;
    return rule->path[len] == '.' || rule->path[len] == '[' || rule->path[len] == '\0';
}

const char *eco_report_rule_key(const struct eco_report_rule *parent,
                                const struct eco_report_rule *child)
{
    size_t len = strlen(parent->path);
    if (child == parent || !eco_report_rule_within(parent, child))
        return NULL;
    const char *rest = child->path + len;
    if (*rest == '[')
        return strcmp(rest, "[]") == 0 ? rest : NULL;
    if (*rest == '.')
        rest++;
    return strpbrk(rest, ".[") ? NULL : rest;
}

void eco_report_precisions(struct eco_buf *out)
{
    eco_buf_puts(out, "FP16|NF4|INT8");
    for (int p = ECO_PREC_NONE + 1; p < ECO_PREC_COUNT; p++) {
        if (p == ECO_PREC_FP16 || p == ECO_PREC_NF4 || p == ECO_PREC_INT8_MIXED)
            continue;
        eco_buf_putc(out, '|');
        eco_buf_puts(out, eco_precision_name((enum eco_precision)p));
    }
}
