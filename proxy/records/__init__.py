"""Keep the audit record: one chain of rows for each tenant, to which rows are only appended.

A request has a row for its charge, written in the same transaction, and a row for its end, written
a moment later, with others. A request that is refused before it is charged has only the second.
"""
