"""Generate pages whose content is known exactly. One folder or module per generator."""
