/*
 * config.json of the models in data/models.csv, cut down to the keys that shape them, as the
 * publishers name them. Figures only. What they must give stands in the data set.
 */
#ifndef ECO_TEST_KNOWN_CONFIGS_H
#define ECO_TEST_KNOWN_CONFIGS_H

static const struct known_config {
    const char *name, *text;
} known_configs[] = {
    {"TinyLlama/TinyLlama-1.1B-Chat-v1.0",
     "{'model_type': 'llama', 'hidden_size': 2048, 'num_hidden_layers': 22, "
     "'num_attention_heads': 32, 'num_key_value_heads': 4, 'intermediate_size': 5632, "
     "'vocab_size': 32000, 'max_position_embeddings': 2048, 'tie_word_embeddings': false}"},
    {"Qwen/Qwen2-0.5B",
     "{'model_type': 'qwen2', 'hidden_size': 896, 'num_hidden_layers': 24, "
     "'num_attention_heads': 14, 'num_key_value_heads': 2, 'intermediate_size': 4864, "
     "'vocab_size': 151936, 'max_position_embeddings': 131072, 'tie_word_embeddings': "
     "true, 'sliding_window': 32768, 'use_sliding_window': false, 'max_window_layers': 24}"},
    {"Qwen/Qwen2.5-0.5B",
     "{'model_type': 'qwen2', 'hidden_size': 896, 'num_hidden_layers': 24, "
     "'num_attention_heads': 14, 'num_key_value_heads': 2, 'intermediate_size': 4864, "
     "'vocab_size': 151936, 'max_position_embeddings': 32768, 'tie_word_embeddings': true, "
     "'sliding_window': 32768, 'use_sliding_window': false, 'max_window_layers': 24}"},
    {"Qwen/Qwen2-1.5B",
     "{'model_type': 'qwen2', 'hidden_size': 1536, 'num_hidden_layers': 28, "
     "'num_attention_heads': 12, 'num_key_value_heads': 2, 'intermediate_size': 8960, "
     "'vocab_size': 151936, 'max_position_embeddings': 131072, 'tie_word_embeddings': "
     "true, 'sliding_window': 32768, 'use_sliding_window': false, 'max_window_layers': 28}"},
    {"Qwen/Qwen2.5-1.5B",
     "{'model_type': 'qwen2', 'hidden_size': 1536, 'num_hidden_layers': 28, "
     "'num_attention_heads': 12, 'num_key_value_heads': 2, 'intermediate_size': 8960, "
     "'vocab_size': 151936, 'max_position_embeddings': 131072, 'tie_word_embeddings': "
     "true, 'sliding_window': 32768, 'use_sliding_window': false, 'max_window_layers': 28}"},
    {"Qwen/Qwen2.5-3B",
     "{'model_type': 'qwen2', 'hidden_size': 2048, 'num_hidden_layers': 36, "
     "'num_attention_heads': 16, 'num_key_value_heads': 2, 'intermediate_size': 11008, "
     "'vocab_size': 151936, 'max_position_embeddings': 32768, 'tie_word_embeddings': true, "
     "'sliding_window': 32768, 'use_sliding_window': false, 'max_window_layers': 36}"},
    {"Qwen/Qwen2.5-3B-Instruct",
     "{'model_type': 'qwen2', 'hidden_size': 2048, 'num_hidden_layers': 36, "
     "'num_attention_heads': 16, 'num_key_value_heads': 2, 'intermediate_size': 11008, "
     "'vocab_size': 151936, 'max_position_embeddings': 32768, 'tie_word_embeddings': true, "
     "'sliding_window': 32768, 'use_sliding_window': false, 'max_window_layers': 36}"},
    {"Qwen/Qwen2-7B",
     "{'model_type': 'qwen2', 'hidden_size': 3584, 'num_hidden_layers': 28, "
     "'num_attention_heads': 28, 'num_key_value_heads': 4, 'intermediate_size': 18944, "
     "'vocab_size': 152064, 'max_position_embeddings': 131072, 'tie_word_embeddings': "
     "false, 'sliding_window': 32768, 'use_sliding_window': false, 'max_window_layers': "
     "28}"},
    {"Qwen/Qwen2.5-7B-Instruct",
     "{'model_type': 'qwen2', 'hidden_size': 3584, 'num_hidden_layers': 28, "
     "'num_attention_heads': 28, 'num_key_value_heads': 4, 'intermediate_size': 18944, "
     "'vocab_size': 152064, 'max_position_embeddings': 32768, 'tie_word_embeddings': "
     "false, 'sliding_window': 32768, 'use_sliding_window': false, 'max_window_layers': "
     "28}"},
    {"Qwen/Qwen2.5-14B",
     "{'model_type': 'qwen2', 'hidden_size': 5120, 'num_hidden_layers': 48, "
     "'num_attention_heads': 40, 'num_key_value_heads': 8, 'intermediate_size': 13824, "
     "'vocab_size': 152064, 'max_position_embeddings': 131072, 'tie_word_embeddings': "
     "false, 'sliding_window': 32768, 'use_sliding_window': false, 'max_window_layers': "
     "48}"},
    {"mistralai/Mistral-7B-v0.1",
     "{'model_type': 'mistral', 'hidden_size': 4096, 'num_hidden_layers': 32, "
     "'num_attention_heads': 32, 'num_key_value_heads': 8, 'intermediate_size': 14336, "
     "'vocab_size': 32000, 'max_position_embeddings': 32768, 'tie_word_embeddings': false, "
     "'sliding_window': 4096}"},
    {"mistralai/Mistral-7B-Instruct-v0.2",
     "{'model_type': 'mistral', 'hidden_size': 4096, 'num_hidden_layers': 32, "
     "'num_attention_heads': 32, 'num_key_value_heads': 8, 'intermediate_size': 14336, "
     "'vocab_size': 32000, 'max_position_embeddings': 32768, 'tie_word_embeddings': false, "
     "'sliding_window': null}"},
    {"mistralai/Mistral-7B-Instruct-v0.3",
     "{'model_type': 'mistral', 'hidden_size': 4096, 'num_hidden_layers': 32, "
     "'num_attention_heads': 32, 'num_key_value_heads': 8, 'intermediate_size': 14336, "
     "'vocab_size': 32768, 'max_position_embeddings': 32768, 'tie_word_embeddings': false, "
     "'sliding_window': null}"},
    {"01-ai/Yi-1.5-6B",
     "{'model_type': 'llama', 'hidden_size': 4096, 'num_hidden_layers': 32, "
     "'num_attention_heads': 32, 'num_key_value_heads': 4, 'intermediate_size': 11008, "
     "'vocab_size': 64000, 'max_position_embeddings': 4096, 'tie_word_embeddings': false}"},
    {"01-ai/Yi-1.5-6B-Chat",
     "{'model_type': 'llama', 'hidden_size': 4096, 'num_hidden_layers': 32, "
     "'num_attention_heads': 32, 'num_key_value_heads': 4, 'intermediate_size': 11008, "
     "'vocab_size': 64000, 'max_position_embeddings': 4096, 'tie_word_embeddings': false}"},
    {"01-ai/Yi-1.5-9B",
     "{'model_type': 'llama', 'hidden_size': 4096, 'num_hidden_layers': 48, "
     "'num_attention_heads': 32, 'num_key_value_heads': 4, 'intermediate_size': 11008, "
     "'vocab_size': 64000, 'max_position_embeddings': 4096, 'tie_word_embeddings': false}"},
    {"microsoft/Phi-3-mini-4k-instruct",
     "{'model_type': 'phi3', 'hidden_size': 3072, 'num_hidden_layers': 32, "
     "'num_attention_heads': 32, 'num_key_value_heads': 32, 'intermediate_size': 8192, "
     "'vocab_size': 32064, 'max_position_embeddings': 4096, 'tie_word_embeddings': false, "
     "'sliding_window': 2047}"},
    {"meta-llama/Llama-2-7b-hf",
     "{'model_type': 'llama', 'hidden_size': 4096, 'num_hidden_layers': 32, "
     "'num_attention_heads': 32, 'num_key_value_heads': 32, 'intermediate_size': 11008, "
     "'vocab_size': 32000, 'max_position_embeddings': 4096, 'tie_word_embeddings': false}"},
    {"meta-llama/Llama-2-13b-hf",
     "{'model_type': 'llama', 'hidden_size': 5120, 'num_hidden_layers': 40, "
     "'num_attention_heads': 40, 'num_key_value_heads': 40, 'intermediate_size': 13824, "
     "'vocab_size': 32000, 'max_position_embeddings': 4096, 'tie_word_embeddings': false}"},
    {"meta-llama/Llama-2-70b-hf",
     "{'model_type': 'llama', 'hidden_size': 8192, 'num_hidden_layers': 80, "
     "'num_attention_heads': 64, 'num_key_value_heads': 8, 'intermediate_size': 28672, "
     "'vocab_size': 32000, 'max_position_embeddings': 4096, 'tie_word_embeddings': false}"},
    {"meta-llama/Meta-Llama-3-8B",
     "{'model_type': 'llama', 'hidden_size': 4096, 'num_hidden_layers': 32, "
     "'num_attention_heads': 32, 'num_key_value_heads': 8, 'intermediate_size': 14336, "
     "'vocab_size': 128256, 'max_position_embeddings': 8192, 'tie_word_embeddings': false}"},
    {"meta-llama/Meta-Llama-3-70B",
     "{'model_type': 'llama', 'hidden_size': 8192, 'num_hidden_layers': 80, "
     "'num_attention_heads': 64, 'num_key_value_heads': 8, 'intermediate_size': 28672, "
     "'vocab_size': 128256, 'max_position_embeddings': 8192, 'tie_word_embeddings': false}"},
    {"meta-llama/Llama-3.1-8B-Instruct",
     "{'model_type': 'llama', 'hidden_size': 4096, 'num_hidden_layers': 32, "
     "'num_attention_heads': 32, 'num_key_value_heads': 8, 'intermediate_size': 14336, "
     "'vocab_size': 128256, 'max_position_embeddings': 131072, 'tie_word_embeddings': "
     "false}"},
    {"meta-llama/Llama-3.1-70B-Instruct",
     "{'model_type': 'llama', 'hidden_size': 8192, 'num_hidden_layers': 80, "
     "'num_attention_heads': 64, 'num_key_value_heads': 8, 'intermediate_size': 28672, "
     "'vocab_size': 128256, 'max_position_embeddings': 131072, 'tie_word_embeddings': "
     "false}"},
    {"meta-llama/Llama-3.1-405B",
     "{'model_type': 'llama', 'hidden_size': 16384, 'num_hidden_layers': 126, "
     "'num_attention_heads': 128, 'num_key_value_heads': 8, 'intermediate_size': 53248, "
     "'vocab_size': 128256, 'max_position_embeddings': 131072, 'tie_word_embeddings': "
     "false}"},
    {"meta-llama/Llama-3.2-1B",
     "{'model_type': 'llama', 'hidden_size': 2048, 'num_hidden_layers': 16, "
     "'num_attention_heads': 32, 'num_key_value_heads': 8, 'intermediate_size': 8192, "
     "'vocab_size': 128256, 'max_position_embeddings': 131072, 'tie_word_embeddings': "
     "true}"},
    {"meta-llama/Llama-3.2-3B",
     "{'model_type': 'llama', 'hidden_size': 3072, 'num_hidden_layers': 28, "
     "'num_attention_heads': 24, 'num_key_value_heads': 8, 'intermediate_size': 8192, "
     "'vocab_size': 128256, 'max_position_embeddings': 131072, 'tie_word_embeddings': "
     "true}"},
    {"meta-llama/Llama-3.3-70B-Instruct",
     "{'model_type': 'llama', 'hidden_size': 8192, 'num_hidden_layers': 80, "
     "'num_attention_heads': 64, 'num_key_value_heads': 8, 'intermediate_size': 28672, "
     "'vocab_size': 128256, 'max_position_embeddings': 131072, 'tie_word_embeddings': "
     "false}"},
    {"mistralai/Mixtral-8x7B-v0.1",
     "{'model_type': 'mixtral', 'hidden_size': 4096, 'num_hidden_layers': 32, "
     "'num_attention_heads': 32, 'num_key_value_heads': 8, 'intermediate_size': 14336, "
     "'vocab_size': 32000, 'max_position_embeddings': 32768, 'tie_word_embeddings': false, "
     "'sliding_window': null, 'num_local_experts': 8, 'num_experts_per_tok': 2}"},
    {"mistralai/Mixtral-8x22B-v0.1",
     "{'model_type': 'mixtral', 'hidden_size': 6144, 'num_hidden_layers': 56, "
     "'num_attention_heads': 48, 'num_key_value_heads': 8, 'intermediate_size': 16384, "
     "'vocab_size': 32000, 'max_position_embeddings': 65536, 'tie_word_embeddings': false, "
     "'sliding_window': null, 'num_local_experts': 8, 'num_experts_per_tok': 2}"},
    {"mistralai/Mistral-Nemo-Base-2407",
     "{'model_type': 'mistral', 'hidden_size': 5120, 'num_hidden_layers': 40, "
     "'num_attention_heads': 32, 'num_key_value_heads': 8, 'intermediate_size': 14336, "
     "'vocab_size': 131072, 'max_position_embeddings': 131072, 'tie_word_embeddings': "
     "false, 'head_dim': 128, 'sliding_window': null}"},
    {"mistralai/Mistral-Small-24B-Instruct-2501",
     "{'model_type': 'mistral', 'hidden_size': 5120, 'num_hidden_layers': 40, "
     "'num_attention_heads': 32, 'num_key_value_heads': 8, 'intermediate_size': 32768, "
     "'vocab_size': 131072, 'max_position_embeddings': 32768, 'tie_word_embeddings': "
     "false, 'head_dim': 128, 'sliding_window': null}"},
    {"Qwen/Qwen2.5-32B",
     "{'model_type': 'qwen2', 'hidden_size': 5120, 'num_hidden_layers': 64, "
     "'num_attention_heads': 40, 'num_key_value_heads': 8, 'intermediate_size': 27648, "
     "'vocab_size': 152064, 'max_position_embeddings': 131072, 'tie_word_embeddings': "
     "false, 'sliding_window': 32768, 'use_sliding_window': false, 'max_window_layers': "
     "64}"},
    {"Qwen/Qwen2.5-72B",
     "{'model_type': 'qwen2', 'hidden_size': 8192, 'num_hidden_layers': 80, "
     "'num_attention_heads': 64, 'num_key_value_heads': 8, 'intermediate_size': 29568, "
     "'vocab_size': 152064, 'max_position_embeddings': 131072, 'tie_word_embeddings': "
     "false, 'sliding_window': 32768, 'use_sliding_window': false, 'max_window_layers': "
     "80}"},
    {"Qwen/Qwen3-0.6B",
     "{'model_type': 'qwen3', 'hidden_size': 1024, 'num_hidden_layers': 28, "
     "'num_attention_heads': 16, 'num_key_value_heads': 8, 'intermediate_size': 3072, "
     "'vocab_size': 151936, 'max_position_embeddings': 40960, 'tie_word_embeddings': true, "
     "'head_dim': 128}"},
    {"Qwen/Qwen3-1.7B",
     "{'model_type': 'qwen3', 'hidden_size': 2048, 'num_hidden_layers': 28, "
     "'num_attention_heads': 16, 'num_key_value_heads': 8, 'intermediate_size': 6144, "
     "'vocab_size': 151936, 'max_position_embeddings': 40960, 'tie_word_embeddings': true}"},
    {"Qwen/Qwen3-4B",
     "{'model_type': 'qwen3', 'hidden_size': 2560, 'num_hidden_layers': 36, "
     "'num_attention_heads': 32, 'num_key_value_heads': 8, 'intermediate_size': 9728, "
     "'vocab_size': 151936, 'max_position_embeddings': 40960, 'tie_word_embeddings': true, "
     "'head_dim': 128}"},
    {"Qwen/Qwen3-8B",
     "{'model_type': 'qwen3', 'hidden_size': 4096, 'num_hidden_layers': 36, "
     "'num_attention_heads': 32, 'num_key_value_heads': 8, 'intermediate_size': 12288, "
     "'vocab_size': 151936, 'max_position_embeddings': 40960, 'tie_word_embeddings': "
     "false}"},
    {"Qwen/Qwen3-14B",
     "{'model_type': 'qwen3', 'hidden_size': 5120, 'num_hidden_layers': 40, "
     "'num_attention_heads': 40, 'num_key_value_heads': 8, 'intermediate_size': 17408, "
     "'vocab_size': 151936, 'max_position_embeddings': 40960, 'tie_word_embeddings': "
     "false}"},
    {"Qwen/Qwen3-32B",
     "{'model_type': 'qwen3', 'hidden_size': 5120, 'num_hidden_layers': 64, "
     "'num_attention_heads': 64, 'num_key_value_heads': 8, 'intermediate_size': 25600, "
     "'vocab_size': 151936, 'max_position_embeddings': 40960, 'tie_word_embeddings': "
     "false, 'head_dim': 128}"},
    {"Qwen/Qwen3-30B-A3B",
     "{'model_type': 'qwen3_moe', 'hidden_size': 2048, 'num_hidden_layers': 48, "
     "'num_attention_heads': 32, 'num_key_value_heads': 4, 'intermediate_size': 6144, "
     "'vocab_size': 151936, 'max_position_embeddings': 40960, 'tie_word_embeddings': "
     "false, 'head_dim': 128, 'moe_intermediate_size': 768, 'num_experts': 128, "
     "'num_experts_per_tok': 8, 'decoder_sparse_step': 1, 'mlp_only_layers': [], "
     "'sliding_window': null}"},
    {"microsoft/phi-2",
     "{'model_type': 'phi', 'hidden_size': 2560, 'num_hidden_layers': 32, "
     "'num_attention_heads': 32, 'num_key_value_heads': 32, 'intermediate_size': 10240, "
     "'vocab_size': 51200, 'max_position_embeddings': 2048, 'tie_word_embeddings': false}"},
    {"microsoft/Phi-3-medium-4k-instruct",
     "{'model_type': 'phi3', 'hidden_size': 5120, 'num_hidden_layers': 40, "
     "'num_attention_heads': 40, 'num_key_value_heads': 10, 'intermediate_size': 17920, "
     "'vocab_size': 32064, 'max_position_embeddings': 4096, 'tie_word_embeddings': false, "
     "'sliding_window': 2047}"},
    {"microsoft/Phi-3.5-mini-instruct",
     "{'model_type': 'phi3', 'hidden_size': 3072, 'num_hidden_layers': 32, "
     "'num_attention_heads': 32, 'num_key_value_heads': 32, 'intermediate_size': 8192, "
     "'vocab_size': 32064, 'max_position_embeddings': 131072, 'tie_word_embeddings': "
     "false, 'sliding_window': null}"},
    {"microsoft/phi-4",
     "{'model_type': 'phi3', 'hidden_size': 5120, 'num_hidden_layers': 40, "
     "'num_attention_heads': 40, 'num_key_value_heads': 10, 'intermediate_size': 17920, "
     "'vocab_size': 100352, 'max_position_embeddings': 16384, 'tie_word_embeddings': "
     "false, 'sliding_window': null}"},
    {"microsoft/Phi-4-mini-instruct",
     "{'model_type': 'phi3', 'hidden_size': 3072, 'num_hidden_layers': 32, "
     "'num_attention_heads': 24, 'num_key_value_heads': 8, 'intermediate_size': 8192, "
     "'vocab_size': 200064, 'max_position_embeddings': 131072, 'tie_word_embeddings': "
     "true, 'sliding_window': null}"},
    {"google/gemma-2b",
     "{'model_type': 'gemma', 'hidden_size': 2048, 'num_hidden_layers': 18, "
     "'num_attention_heads': 8, 'num_key_value_heads': 1, 'intermediate_size': 16384, "
     "'vocab_size': 256000, 'max_position_embeddings': 8192, 'head_dim': 256}"},
    {"google/gemma-7b",
     "{'model_type': 'gemma', 'hidden_size': 3072, 'num_hidden_layers': 28, "
     "'num_attention_heads': 16, 'num_key_value_heads': 16, 'intermediate_size': 24576, "
     "'vocab_size': 256000, 'max_position_embeddings': 8192, 'head_dim': 256}"},
    {"google/gemma-2-2b",
     "{'model_type': 'gemma2', 'hidden_size': 2304, 'num_hidden_layers': 26, "
     "'num_attention_heads': 8, 'num_key_value_heads': 4, 'intermediate_size': 9216, "
     "'vocab_size': 256000, 'max_position_embeddings': 8192, 'head_dim': 256, "
     "'sliding_window': 4096}"},
    {"google/gemma-2-9b",
     "{'model_type': 'gemma2', 'hidden_size': 3584, 'num_hidden_layers': 42, "
     "'num_attention_heads': 16, 'num_key_value_heads': 8, 'intermediate_size': 14336, "
     "'vocab_size': 256000, 'max_position_embeddings': 8192, 'head_dim': 256, "
     "'sliding_window': 4096}"},
    {"google/gemma-2-27b",
     "{'model_type': 'gemma2', 'hidden_size': 4608, 'num_hidden_layers': 46, "
     "'num_attention_heads': 32, 'num_key_value_heads': 16, 'intermediate_size': 36864, "
     "'vocab_size': 256000, 'max_position_embeddings': 8192, 'head_dim': 128, "
     "'sliding_window': 4096}"},
    {"google/gemma-3-1b-it",
     "{'model_type': 'gemma3_text', 'hidden_size': 1152, 'num_hidden_layers': 26, "
     "'num_attention_heads': 4, 'num_key_value_heads': 1, 'intermediate_size': 6912, "
     "'vocab_size': 262144, 'max_position_embeddings': 32768, 'head_dim': 256, "
     "'sliding_window': 512, 'sliding_window_pattern': 6}"},
    {"google/gemma-3-4b-it",
     "{'model_type': 'gemma3', 'text_config': {'hidden_size': 2560, 'num_hidden_layers': "
     "34, 'num_attention_heads': 8, 'num_key_value_heads': 4, 'intermediate_size': 10240, "
     "'vocab_size': 262208, 'max_position_embeddings': 131072, 'head_dim': 256, "
     "'model_type': 'gemma3_text', 'sliding_window': 1024}, 'vision_config': "
     "{'hidden_size': 1152, 'image_size': 896, 'intermediate_size': 4304, "
     "'num_hidden_layers': 27, 'patch_size': 14}}"},
    {"google/gemma-3-12b-it",
     "{'model_type': 'gemma3', 'text_config': {'hidden_size': 3840, 'num_hidden_layers': "
     "48, 'num_attention_heads': 16, 'num_key_value_heads': 8, 'intermediate_size': 15360, "
     "'vocab_size': 262208, 'max_position_embeddings': 131072, 'head_dim': 256, "
     "'model_type': 'gemma3_text', 'sliding_window': 1024}, 'vision_config': "
     "{'hidden_size': 1152, 'image_size': 896, 'intermediate_size': 4304, "
     "'num_hidden_layers': 27, 'patch_size': 14}}"},
    {"google/gemma-3-27b-it",
     "{'model_type': 'gemma3', 'text_config': {'hidden_size': 5376, 'num_hidden_layers': "
     "62, 'num_attention_heads': 32, 'num_key_value_heads': 16, 'intermediate_size': "
     "21504, 'vocab_size': 262208, 'max_position_embeddings': 131072, 'head_dim': 128, "
     "'model_type': 'gemma3_text', 'sliding_window': 1024}, 'vision_config': "
     "{'hidden_size': 1152, 'image_size': 896, 'intermediate_size': 4304, "
     "'num_hidden_layers': 27, 'patch_size': 14}}"},
    {"01-ai/Yi-34B",
     "{'model_type': 'llama', 'hidden_size': 7168, 'num_hidden_layers': 60, "
     "'num_attention_heads': 56, 'num_key_value_heads': 8, 'intermediate_size': 20480, "
     "'vocab_size': 64000, 'max_position_embeddings': 4096, 'tie_word_embeddings': false}"},
    {"deepseek-ai/deepseek-llm-7b-base",
     "{'model_type': 'llama', 'hidden_size': 4096, 'num_hidden_layers': 30, "
     "'num_attention_heads': 32, 'num_key_value_heads': 32, 'intermediate_size': 11008, "
     "'vocab_size': 102400, 'max_position_embeddings': 4096, 'tie_word_embeddings': false}"},
    {"deepseek-ai/DeepSeek-V2-Lite",
     "{'model_type': 'deepseek_v2', 'hidden_size': 2048, 'num_hidden_layers': 27, "
     "'num_attention_heads': 16, 'num_key_value_heads': 16, 'intermediate_size': 10944, "
     "'moe_intermediate_size': 1408, 'n_routed_experts': 64, 'n_shared_experts': 2, "
     "'num_experts_per_tok': 6, 'first_k_dense_replace': 1, 'moe_layer_freq': 1, "
     "'kv_lora_rank': 512, 'q_lora_rank': null, 'qk_rope_head_dim': 64, "
     "'qk_nope_head_dim': 128, 'v_head_dim': 128, 'vocab_size': 102400, "
     "'max_position_embeddings': 163840, 'tie_word_embeddings': false, 'attention_bias': "
     "false}"},
    {"deepseek-ai/DeepSeek-V3",
     "{'model_type': 'deepseek_v3', 'hidden_size': 7168, 'num_hidden_layers': 61, "
     "'num_attention_heads': 128, 'num_key_value_heads': 128, 'intermediate_size': 18432, "
     "'moe_intermediate_size': 2048, 'n_routed_experts': 256, 'n_shared_experts': 1, "
     "'num_experts_per_tok': 8, 'first_k_dense_replace': 3, 'moe_layer_freq': 1, "
     "'kv_lora_rank': 512, 'q_lora_rank': 1536, 'qk_rope_head_dim': 64, "
     "'qk_nope_head_dim': 128, 'v_head_dim': 128, 'vocab_size': 129280, "
     "'max_position_embeddings': 163840, 'tie_word_embeddings': false, 'attention_bias': "
     "false, 'quantization_config': {'quant_method': 'fp8', 'fmt': 'e4m3', "
     "'weight_block_size': [128, 128]}}"},
    {"deepseek-ai/DeepSeek-R1-Distill-Qwen-1.5B",
     "{'model_type': 'qwen2', 'hidden_size': 1536, 'num_hidden_layers': 28, "
     "'num_attention_heads': 12, 'num_key_value_heads': 2, 'intermediate_size': 8960, "
     "'vocab_size': 151936, 'max_position_embeddings': 131072, 'tie_word_embeddings': "
     "false, 'sliding_window': 32768, 'use_sliding_window': false, 'max_window_layers': "
     "28}"},
    {"deepseek-ai/DeepSeek-R1-Distill-Qwen-7B",
     "{'model_type': 'qwen2', 'hidden_size': 3584, 'num_hidden_layers': 28, "
     "'num_attention_heads': 28, 'num_key_value_heads': 4, 'intermediate_size': 18944, "
     "'vocab_size': 152064, 'max_position_embeddings': 131072, 'tie_word_embeddings': "
     "false, 'sliding_window': 32768, 'use_sliding_window': false, 'max_window_layers': "
     "28}"},
    {"deepseek-ai/DeepSeek-R1-Distill-Llama-8B",
     "{'model_type': 'llama', 'hidden_size': 4096, 'num_hidden_layers': 32, "
     "'num_attention_heads': 32, 'num_key_value_heads': 8, 'intermediate_size': 14336, "
     "'vocab_size': 128256, 'max_position_embeddings': 131072, 'tie_word_embeddings': "
     "false}"},
    {"HuggingFaceTB/SmolLM2-135M",
     "{'model_type': 'llama', 'hidden_size': 576, 'num_hidden_layers': 30, "
     "'num_attention_heads': 9, 'num_key_value_heads': 3, 'intermediate_size': 1536, "
     "'vocab_size': 49152, 'max_position_embeddings': 8192, 'tie_word_embeddings': true}"},
    {"HuggingFaceTB/SmolLM2-360M",
     "{'model_type': 'llama', 'hidden_size': 960, 'num_hidden_layers': 32, "
     "'num_attention_heads': 15, 'num_key_value_heads': 5, 'intermediate_size': 2560, "
     "'vocab_size': 49152, 'max_position_embeddings': 8192, 'tie_word_embeddings': true}"},
    {"HuggingFaceTB/SmolLM2-1.7B",
     "{'model_type': 'llama', 'hidden_size': 2048, 'num_hidden_layers': 24, "
     "'num_attention_heads': 32, 'num_key_value_heads': 32, 'intermediate_size': 8192, "
     "'vocab_size': 49152, 'max_position_embeddings': 8192, 'tie_word_embeddings': true}"},
    {"HuggingFaceTB/SmolLM3-3B",
     "{'model_type': 'smollm3', 'hidden_size': 2048, 'num_hidden_layers': 36, "
     "'num_attention_heads': 16, 'num_key_value_heads': 4, 'intermediate_size': 11008, "
     "'vocab_size': 128256, 'max_position_embeddings': 65536}"},
    {"tiiuae/falcon-7b",
     "{'model_type': 'falcon', 'hidden_size': 4544, 'num_hidden_layers': 32, "
     "'num_attention_heads': 71, 'multi_query': true, 'parallel_attn': true, "
     "'new_decoder_architecture': false, 'bias': false, 'alibi': false, 'vocab_size': "
     "65024}"},
    {"openai-community/gpt2",
     "{'model_type': 'gpt2', 'n_embd': 768, 'n_layer': 12, 'n_head': 12, 'n_inner': null, "
     "'n_positions': 1024, 'vocab_size': 50257}"},
    {"openai-community/gpt2-medium",
     "{'model_type': 'gpt2', 'n_embd': 1024, 'n_layer': 24, 'n_head': 16, 'n_inner': null, "
     "'n_positions': 1024, 'vocab_size': 50257}"},
    {"openai-community/gpt2-large",
     "{'model_type': 'gpt2', 'n_embd': 1280, 'n_layer': 36, 'n_head': 20, 'n_inner': null, "
     "'n_positions': 1024, 'vocab_size': 50257}"},
    {"openai-community/gpt2-xl",
     "{'model_type': 'gpt2', 'n_embd': 1600, 'n_layer': 48, 'n_head': 25, 'n_inner': null, "
     "'n_positions': 1024, 'vocab_size': 50257}"},
    {"facebook/opt-125m", "{'model_type': 'opt', 'hidden_size': 768, 'num_hidden_layers': 12, "
                          "'num_attention_heads': 12, 'ffn_dim': 3072, 'word_embed_proj_dim': 768, "
                          "'max_position_embeddings': 2048, 'do_layer_norm_before': true, "
                          "'_remove_final_layer_norm': false, 'vocab_size': 50272}"},
    {"facebook/opt-1.3b",
     "{'model_type': 'opt', 'hidden_size': 2048, 'num_hidden_layers': 24, "
     "'num_attention_heads': 32, 'ffn_dim': 8192, 'word_embed_proj_dim': 2048, "
     "'max_position_embeddings': 2048, 'do_layer_norm_before': true, "
     "'_remove_final_layer_norm': false, 'vocab_size': 50272}"},
    {"facebook/opt-2.7b",
     "{'model_type': 'opt', 'hidden_size': 2560, 'num_hidden_layers': 32, "
     "'num_attention_heads': 32, 'ffn_dim': 10240, 'word_embed_proj_dim': 2560, "
     "'max_position_embeddings': 2048, 'do_layer_norm_before': true, "
     "'_remove_final_layer_norm': false, 'vocab_size': 50272}"},
    {"facebook/opt-6.7b",
     "{'model_type': 'opt', 'hidden_size': 4096, 'num_hidden_layers': 32, "
     "'num_attention_heads': 32, 'ffn_dim': 16384, 'word_embed_proj_dim': 4096, "
     "'max_position_embeddings': 2048, 'do_layer_norm_before': true, "
     "'_remove_final_layer_norm': false, 'vocab_size': 50272}"},
    {"facebook/opt-13b",
     "{'model_type': 'opt', 'hidden_size': 5120, 'num_hidden_layers': 40, "
     "'num_attention_heads': 40, 'ffn_dim': 20480, 'word_embed_proj_dim': 5120, "
     "'max_position_embeddings': 2048, 'do_layer_norm_before': true, "
     "'_remove_final_layer_norm': false, 'vocab_size': 50272}"},
    {"EleutherAI/pythia-1.4b",
     "{'model_type': 'gpt_neox', 'hidden_size': 2048, 'num_hidden_layers': 24, "
     "'num_attention_heads': 16, 'intermediate_size': 8192, 'vocab_size': 50304, "
     "'max_position_embeddings': 2048, 'tie_word_embeddings': false}"},
    {"EleutherAI/pythia-6.9b",
     "{'model_type': 'gpt_neox', 'hidden_size': 4096, 'num_hidden_layers': 32, "
     "'num_attention_heads': 32, 'intermediate_size': 16384, 'vocab_size': 50432, "
     "'max_position_embeddings': 2048, 'tie_word_embeddings': false}"},
    {"EleutherAI/gpt-j-6b",
     "{'model_type': 'gptj', 'n_embd': 4096, 'n_layer': 28, 'n_head': 16, 'n_inner': null, "
     "'n_positions': 2048, 'vocab_size': 50400, 'tie_word_embeddings': false}"},
    {"openai/gpt-oss-20b",
     "{'model_type': 'gpt_oss', 'hidden_size': 2880, 'num_hidden_layers': 24, "
     "'num_attention_heads': 64, 'num_key_value_heads': 8, 'intermediate_size': 2880, "
     "'vocab_size': 201088, 'max_position_embeddings': 131072, 'tie_word_embeddings': "
     "false, 'head_dim': 64, 'num_local_experts': 32, 'num_experts_per_tok': 4, "
     "'sliding_window': 128, 'layer_types': ['sliding_attention', 'full_attention', "
     "'sliding_attention', 'full_attention', 'sliding_attention', 'full_attention', "
     "'sliding_attention', 'full_attention', 'sliding_attention', 'full_attention', "
     "'sliding_attention', 'full_attention', 'sliding_attention', 'full_attention', "
     "'sliding_attention', 'full_attention', 'sliding_attention', 'full_attention', "
     "'sliding_attention', 'full_attention', 'sliding_attention', 'full_attention', "
     "'sliding_attention', 'full_attention'], 'quantization_config': {'quant_method': "
     "'mxfp4'}}"},
    {"openai/gpt-oss-120b",
     "{'model_type': 'gpt_oss', 'hidden_size': 2880, 'num_hidden_layers': 36, "
     "'num_attention_heads': 64, 'num_key_value_heads': 8, 'intermediate_size': 2880, "
     "'vocab_size': 201088, 'max_position_embeddings': 131072, 'tie_word_embeddings': "
     "false, 'head_dim': 64, 'num_local_experts': 128, 'num_experts_per_tok': 4, "
     "'sliding_window': 128, 'layer_types': ['sliding_attention', 'full_attention', "
     "'sliding_attention', 'full_attention', 'sliding_attention', 'full_attention', "
     "'sliding_attention', 'full_attention', 'sliding_attention', 'full_attention', "
     "'sliding_attention', 'full_attention', 'sliding_attention', 'full_attention', "
     "'sliding_attention', 'full_attention', 'sliding_attention', 'full_attention', "
     "'sliding_attention', 'full_attention', 'sliding_attention', 'full_attention', "
     "'sliding_attention', 'full_attention', 'sliding_attention', 'full_attention', "
     "'sliding_attention', 'full_attention', 'sliding_attention', 'full_attention', "
     "'sliding_attention', 'full_attention', 'sliding_attention', 'full_attention', "
     "'sliding_attention', 'full_attention'], 'quantization_config': {'quant_method': "
     "'mxfp4'}}"},
    {"Qwen/Qwen2.5-Coder-3B-Instruct",
     "{'model_type': 'qwen2', 'hidden_size': 2048, 'num_hidden_layers': 36, "
     "'num_attention_heads': 16, 'num_key_value_heads': 2, 'intermediate_size': 11008, "
     "'vocab_size': 151936, 'max_position_embeddings': 32768, 'tie_word_embeddings': true, "
     "'sliding_window': 32768, 'use_sliding_window': false, 'max_window_layers': 36}"},
    {"deepseek-ai/DeepSeek-R1-Distill-Qwen-14B",
     "{'model_type': 'qwen2', 'hidden_size': 5120, 'num_hidden_layers': 48, "
     "'num_attention_heads': 40, 'num_key_value_heads': 8, 'intermediate_size': 13824, "
     "'vocab_size': 152064, 'max_position_embeddings': 131072, 'tie_word_embeddings': "
     "false, 'sliding_window': 32768, 'use_sliding_window': false, 'max_window_layers': "
     "48}"},
    {"Qwen/Qwen3-235B-A22B-Instruct-2507",
     "{'model_type': 'qwen3_moe', 'hidden_size': 4096, 'num_hidden_layers': 94, "
     "'num_attention_heads': 64, 'num_key_value_heads': 4, 'intermediate_size': 12288, "
     "'vocab_size': 151936, 'max_position_embeddings': 262144, 'tie_word_embeddings': "
     "false, 'head_dim': 128, 'moe_intermediate_size': 1536, 'num_experts': 128, "
     "'num_experts_per_tok': 8, 'decoder_sparse_step': 1, 'mlp_only_layers': [], "
     "'sliding_window': null}"},
    {"Qwen/Qwen3-Coder-30B-A3B-Instruct",
     "{'model_type': 'qwen3_moe', 'hidden_size': 2048, 'num_hidden_layers': 48, "
     "'num_attention_heads': 32, 'num_key_value_heads': 4, 'intermediate_size': 6144, "
     "'vocab_size': 151936, 'max_position_embeddings': 262144, 'tie_word_embeddings': "
     "false, 'head_dim': 128, 'moe_intermediate_size': 768, 'num_experts': 128, "
     "'num_experts_per_tok': 8, 'decoder_sparse_step': 1, 'mlp_only_layers': [], "
     "'sliding_window': null}"},
    {"Qwen/Qwen3-Coder-480B-A35B-Instruct",
     "{'model_type': 'qwen3_moe', 'hidden_size': 6144, 'num_hidden_layers': 62, "
     "'num_attention_heads': 96, 'num_key_value_heads': 8, 'intermediate_size': 18432, "
     "'vocab_size': 151936, 'max_position_embeddings': 262144, 'tie_word_embeddings': "
     "false, 'head_dim': 128, 'moe_intermediate_size': 2560, 'num_experts': 160, "
     "'num_experts_per_tok': 8, 'decoder_sparse_step': 1, 'mlp_only_layers': [], "
     "'sliding_window': null}"},
    {"deepseek-ai/DeepSeek-R1",
     "{'model_type': 'deepseek_v3', 'hidden_size': 7168, 'num_hidden_layers': 61, "
     "'num_attention_heads': 128, 'num_key_value_heads': 128, 'intermediate_size': 18432, "
     "'moe_intermediate_size': 2048, 'n_routed_experts': 256, 'n_shared_experts': 1, "
     "'num_experts_per_tok': 8, 'first_k_dense_replace': 3, 'moe_layer_freq': 1, "
     "'kv_lora_rank': 512, 'q_lora_rank': 1536, 'qk_rope_head_dim': 64, "
     "'qk_nope_head_dim': 128, 'v_head_dim': 128, 'vocab_size': 129280, "
     "'max_position_embeddings': 163840, 'tie_word_embeddings': false, 'attention_bias': "
     "false, 'quantization_config': {'quant_method': 'fp8', 'fmt': 'e4m3', "
     "'weight_block_size': [128, 128]}}"},
    {"mistralai/Mistral-Large-Instruct-2407",
     "{'model_type': 'mistral', 'hidden_size': 12288, 'num_hidden_layers': 88, "
     "'num_attention_heads': 96, 'num_key_value_heads': 8, 'intermediate_size': 28672, "
     "'vocab_size': 32768, 'max_position_embeddings': 131072, 'tie_word_embeddings': "
     "false, 'sliding_window': null}"},
    {"codellama/CodeLlama-34b-hf",
     "{'model_type': 'llama', 'hidden_size': 8192, 'num_hidden_layers': 48, "
     "'num_attention_heads': 64, 'num_key_value_heads': 8, 'intermediate_size': 22016, "
     "'vocab_size': 32000, 'max_position_embeddings': 16384, 'tie_word_embeddings': false}"},
};

#endif
