"""Define the settings of the models: the untrusted ones and the trusted one."""
