//! The protocol `openai-chat`.
