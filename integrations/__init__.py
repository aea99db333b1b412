"""What other programs load: data sets, Spark, Open WebUI, LiteLLM and llm."""
