//! Refusals as real servers word them.

use serde_json::json;

use super::*;

/// A judge's and an agent's parameters together.
fn params() -> Map<String, Value> {
    json!({
        "temperature": 0, "n": 1, "stop": ["\nObservation:"], "max_tokens": 250, "top_p": 1.0,
        "frequency_penalty": 0, "presence_penalty": 0, "response_format": {"type": "json_object"}, "seed": 1,
    })
    .as_object()
    .unwrap()
    .clone()
}

fn demanded(status: u16, body: &str) -> Vec<String> {
    let error = ErrorBody::read(body.as_bytes()).unwrap();
    refused(status, &error, &params()).iter().map(ToString::to_string).collect()
}

#[test]
fn real_refusals_are_recognised() {
    let rename = "renamed max_tokens to max_completion_tokens";
    let cases: [(u16, &str, &[&str]); 24] = [
        // OpenAI and Azure
        (
            400,
            r#"{"error":{"message":"Unsupported parameter: 'stop' is not supported with this model.","type":"invalid_request_error","param":"stop","code":"unsupported_parameter"}}"#,
            &["dropped stop"],
        ),
        (
            400,
            r#"{"error":{"message":"Unsupported value: 'temperature' does not support 0 with this model. Only the default (1) value is supported.","type":"invalid_request_error","param":"temperature","code":"unsupported_value"}}"#,
            &["dropped temperature"],
        ),
        (
            400,
            r#"{"error":{"message":"Unsupported parameter: 'max_tokens' is not supported with this model. Use 'max_completion_tokens' instead.","type":"invalid_request_error","param":"max_tokens","code":"unsupported_parameter"}}"#,
            &[rename],
        ),
        (
            400,
            r#"{"error":{"message":"Unsupported value: 'top_p' does not support 0.9 with this model.","type":"invalid_request_error","param":"top_p","code":"unsupported_value"}}"#,
            &["dropped top_p"],
        ),
        (
            400,
            r#"{"error":{"message":"Invalid parameter: 'response_format' of type 'json_object' is not supported with this model.","type":"invalid_request_error","param":"response_format","code":null}}"#,
            &["dropped response_format"],
        ),
        (
            400,
            r#"{"error":{"message":"'response_format' of type 'json_object' is not supported.","type":"invalid_request_error","param":"response_format.type","code":null}}"#,
            &["dropped response_format"],
        ),
        (
            400,
            r#"{"error":{"message":"Unrecognized request argument supplied: response_format","type":"invalid_request_error","param":null,"code":null}}"#,
            &["dropped response_format"],
        ),
        // xAI
        (
            400,
            r#"{"code":"Client specified an invalid argument","error":"Argument not supported on this model: presencePenalty"}"#,
            &["dropped presence_penalty"],
        ),
        (
            400,
            r#"{"code":"Client specified an invalid argument","error":"Argument not supported on this model: stop"}"#,
            &["dropped stop"],
        ),
        (400, r#"{"error":"Model grok-4.5 does not support parameter stop."}"#, &["dropped stop"]),
        (
            400,
            r#"{"code":"Client specified an invalid argument","error":"The response_format parameter is unsupported at the moment. Leave it unset."}"#,
            &["dropped response_format"],
        ),
        // LiteLLM's proxy, in its own words and passing a provider's on
        (
            400,
            r#"{"error":{"message":"litellm.UnsupportedParamsError: openai does not support parameters: ['stop'], for model=o3-mini. To drop these, set `litellm.drop_params=True`","type":"None","param":null,"code":"400"}}"#,
            &["dropped stop"],
        ),
        (
            400,
            r#"{"error":{"message":"litellm.BadRequestError: XaiException - {\"code\":\"Client specified an invalid argument\",\"error\":\"Argument not supported on this model: stop\"}. Received Model Group=xai_grok-4","type":null,"param":null,"code":"400"}}"#,
            &["dropped stop"],
        ),
        // Anthropic and what stands before it
        (
            400,
            r#"{"type":"error","error":{"type":"invalid_request_error","message":"`temperature` and `top_p` cannot both be specified for this model. Please use only one."}}"#,
            &["dropped top_p"],
        ),
        (400, r#"{"message":"temperature is deprecated for this model."}"#, &["dropped temperature"]),
        (
            400,
            r#"{"type":"error","error":{"type":"invalid_request_error","message":"`temperature` may only be set to 1 when thinking is enabled."}}"#,
            &["dropped temperature"],
        ),
        (
            400,
            r#"{"error":{"message":"presence_penalty: Extra inputs are not permitted","type":"invalid_request_error"}}"#,
            &["dropped presence_penalty"],
        ),
        // Mistral, two generations
        (
            422,
            r#"{"object":"error","message":{"detail":[{"type":"extra_forbidden","loc":["body","frequency_penalty"],"msg":"Extra inputs are not permitted","input":0.0}]},"type":"invalid_request_error","param":null,"code":null}"#,
            &["dropped frequency_penalty"],
        ),
        (
            422,
            r#"{"object":"error","message":"{\"detail\":[{\"type\":\"extra_forbidden\",\"loc\":[\"body\",\"n\"],\"msg\":\"Extra inputs are not permitted\",\"input\":1}]}","type":"internal_error_proxy","param":null,"code":"1000"}"#,
            &["dropped n"],
        ),
        // NVIDIA NIM names several at once
        (
            422,
            r#"{"type":"urn:inference-service:problem-details:unprocessable-entity","title":"Unprocessable Entity","status":422,"detail":"body -> frequency_penalty\n  Extra inputs are not permitted (type=extra_forbidden)\nbody -> n\n  Extra inputs are not permitted (type=extra_forbidden)\nbody -> presence_penalty\n  Extra inputs are not permitted (type=extra_forbidden)"}"#,
            &["dropped n", "dropped frequency_penalty", "dropped presence_penalty"],
        ),
        // Gemini
        (
            400,
            r#"[{"error":{"code":400,"message":"Invalid JSON payload received. Unknown name \"frequency_penalty\": Cannot find field.\nInvalid JSON payload received. Unknown name \"presence_penalty\": Cannot find field.","status":"INVALID_ARGUMENT"}}]"#,
            &["dropped frequency_penalty", "dropped presence_penalty"],
        ),
        // Groq, Moonshot, vLLM
        (
            400,
            r#"{"error":{"message":"property 'presence_penalty' is unsupported","type":"invalid_request_error"}}"#,
            &["dropped presence_penalty"],
        ),
        (
            400,
            r#"{"error":{"message":"invalid temperature: only 1 is allowed for this model","type":"invalid_request_error"}}"#,
            &["dropped temperature"],
        ),
        (
            400,
            r#"{"object":"error","message":"create() got an unexpected keyword argument 'response_format'","type":"BadRequestError","param":null,"code":400}"#,
            &["dropped response_format"],
        ),
    ];
    for (status, body, expected) in cases {
        assert_eq!(demanded(status, body), expected, "{body}");
    }
}

#[test]
fn other_complaints_stay_errors() {
    let cases = [
        // A value out of range.
        (
            400,
            r#"{"error":{"message":"Invalid 'temperature': decimal above maximum value. Expected a value <= 2, but got 5 instead.","param":"temperature","code":"decimal_above_max_value"}}"#,
        ),
        (
            400,
            r#"{"error":{"message":"max_tokens is too large: 9000. This model supports at most 4096 completion tokens.","param":"max_tokens","code":null}}"#,
        ),
        (
            400,
            r#"{"error":{"message":"Invalid 'stop': array too long. Expected an array with maximum length 4.","param":"stop","code":"array_above_max_length"}}"#,
        ),
        // A parameter the user chose, though others are named beside it.
        (
            400,
            r#"{"error":{"message":"Unsupported parameter: 'seed' is not supported with this model.","param":"seed","code":"unsupported_parameter"}}"#,
        ),
        (400, r#"{"error":{"message":"Unsupported parameter: 'logit_bias'. Please stop sending it.","param":null}}"#),
        // The prompt, the model, the role.
        (
            400,
            r#"{"error":{"message":"This model's maximum context length is 8192 tokens.","code":"context_length_exceeded"}}"#,
        ),
        (404, r#"{"error":{"message":"The model `x` does not exist or stop is not supported","param":"stop"}}"#),
        (
            400,
            r#"{"error":{"message":"'messages' must contain the word 'json' in some form, to use 'response_format' of type 'json_object'.","param":"messages"}}"#,
        ),
        (
            400,
            r#"{"error":{"message":"Unsupported value: 'messages[0].role' does not support 'system' with this model.","param":"messages[0].role","code":"unsupported_value"}}"#,
        ),
        (500, r#"{"error":{"message":"'stop' is not supported"}}"#),
    ];
    for (status, body) in cases {
        assert_eq!(demanded(status, body), Vec::<String>::new(), "{body}");
    }
}

#[test]
fn only_what_is_sent_is_changed_and_only_one_choice_is_droppable() {
    let error = |message: &str| ErrorBody { message: message.to_owned(), ..ErrorBody::default() };
    let without = json!({"temperature": null}).as_object().unwrap().clone();
    assert!(refused(400, &error("'temperature' is not supported"), &without).is_empty());
    let three = json!({"n": 3}).as_object().unwrap().clone();
    assert!(refused(400, &error("'n' is not supported"), &three).is_empty());
    // Without top_p there is nothing to exclude but the temperature itself.
    let alone = json!({"temperature": 0}).as_object().unwrap().clone();
    assert_eq!(refused(400, &error("`temperature` and `top_k` cannot both be specified"), &alone).len(), 1);
}
