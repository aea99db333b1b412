"""Load on the proxy, compared in one run with other gateways and with the upstream itself."""
