"""Servers, clients in processes of their own, and what is between them: delays, bandwidth and faults."""
