// Ids of texts by the judges from npm: node tokenizers.mjs MODULES hf TOKENIZER.json | llama
// Standard input: a JSON list of texts. Standard output: a JSON list of lists of ids.
// node tokenizers.mjs MODULES llama-file: Llama's vocabulary as a tokenizer.json.
import { readFileSync } from "node:fs";
import { createRequire } from "node:module";
import { resolve } from "node:path";
import { pathToFileURL } from "node:url";

const [modules, kind, file] = process.argv.slice(2);
const texts = kind === "llama-file" ? [] : JSON.parse(readFileSync(0, "utf8"));
const load = async (name) => {
    const require = createRequire(resolve(modules, "x.js"));
    return import(pathToFileURL(require.resolve(name)).href);
};

let encode;
if (kind === "hf") {
    const module = await load("@huggingface/tokenizers"); // as CommonJS: names lie in default
    const { Tokenizer } = module.Tokenizer ? module : module.default;
    const tokenizer = new Tokenizer(JSON.parse(readFileSync(file, "utf8")), {});
    encode = (text) => Array.from(tokenizer.encode(text).ids, Number);
} else {
    const { default: llama } = await load("llama-tokenizer-js");
    encode = (text) => llama.encode(text);
}

function llamaFile(llama) {
    const special = (id) => ({ id, content: llama.vocabById[id], special: true });
    const space = "\u2581";
    return {
        added_tokens: [special(0), special(1), special(2)],
        normalizer: { type: "Sequence", normalizers: [
            { type: "Prepend", prepend: space },
            { type: "Replace", pattern: { String: " " }, content: space }] },
        pre_tokenizer: null,
        post_processor: { type: "TemplateProcessing", single: [
            { SpecialToken: { id: "<s>", type_id: 0 } }, { Sequence: { id: "A", type_id: 0 } }] },
        model: { type: "BPE", unk_token: "<unk>", fuse_unk: true, byte_fallback: true,
            vocab: Object.fromEntries(llama.vocabById.map((text, id) => [text, id])),
            merges: [...llama.merges].sort((a, b) => a[1] - b[1]).map(([pair]) => pair) },
    };
}

if (kind === "llama-file") {
    const { default: llama } = await load("llama-tokenizer-js");
    process.stdout.write(JSON.stringify(llamaFile(llama)));
} else {
    process.stdout.write(JSON.stringify(texts.map(encode)));
}
