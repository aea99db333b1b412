"""Run Open WebUI on loopback with the filter of `integrations/open-webui`, and use it."""
