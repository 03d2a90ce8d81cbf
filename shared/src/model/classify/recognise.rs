//! Two conditions that statuses do not tell apart: the prompt is too long, and the account is empty. Recognised by
//! the codes and words that servers use.

use super::ErrorBody;

/// Codes and types of "the prompt is too long".
const OVERFLOW_CODES: [&str; 5] = [
    "context_length_exceeded",
    "exceed_context_size_error",
    "context_window_exceeded",
    "string_above_max_length",
    "ContextWindowExceededError",
];

/// Words of "the prompt is too long"; every word of a row must occur. In lower case.
const OVERFLOW_WORDS: [&[&str]; 22] = [
    // OpenAI, Azure, DeepSeek, vLLM
    &["maximum context length"],
    &["reduce the length of the"],
    // vLLM's engine
    &["longer than the maximum model length"],
    &["max_model_len"],
    &["max_seq_len"],
    // SGLang, Fireworks, xAI, LiteLLM
    &["context length", "exceed"],
    &["context length", "longer than"],
    &["context window", "exceed"],
    &["context_length", "exceed"],
    // llama.cpp
    &["context size", "exceed"],
    // Anthropic
    &["context limit", "exceed"],
    &["prompt is too long"],
    // Bedrock, Cohere
    &["input is too long"],
    &["too many tokens", "prompt"],
    // Gemini
    &["input token count", "exceed"],
    &["maximum number of tokens allowed"],
    // TGI
    &["`inputs`", "`max_new_tokens`", "must be"],
    // LM Studio
    &["trying to keep the first", "context"],
    // Moonshot, Zhipu, DashScope
    &["exceeded model token limit"],
    &["prompt exceeds max length"],
    &["range of input length"],
    // Ollama
    &["input exceeds", "context"],
];

/// Whether the error says that the prompt is too long for the model.
pub(super) fn is_overflow(error: &ErrorBody) -> bool {
    let message = error.message.to_lowercase();
    // Groq answers 413 when one request exceeds what a minute allows: a limit of the account, not of the model.
    if message.contains("per minute") || error.is_coded(&["rate_limit_exceeded"]) {
        return false;
    }
    error.is_coded(&OVERFLOW_CODES)
        || OVERFLOW_WORDS.iter().any(|words| words.iter().all(|word| message.contains(word)))
}

/// Codes and types of "the account is empty".
const QUOTA_CODES: [&str; 7] = [
    "insufficient_quota",
    "insufficient_balance",
    "insufficient_credits",
    "billing_hard_limit_reached",
    "billing_not_active",
    "billing_error",
    "payment_required",
];

/// Words of "the account is empty", in lower case.
const QUOTA_WORDS: [&str; 5] = [
    "credit balance is too low",
    "insufficient balance",
    "insufficient credits",
    "exceeded your current quota",
    "billing hard limit has been reached",
];

/// Whether the error says that the account is empty, which no waiting cures.
pub(super) fn is_quota(error: &ErrorBody) -> bool {
    if error.is_coded(&QUOTA_CODES) {
        return true;
    }
    let message = error.message.to_lowercase();
    // Gemini says "exceeded your current quota" of a minute's allowance too, and then when to come back.
    let passes = error.retry_after.is_some()
        || error.is_coded(&["RESOURCE_EXHAUSTED"])
        || message.contains("retry in")
        || message.contains("per minute");
    !passes && QUOTA_WORDS.iter().any(|words| message.contains(words))
}
