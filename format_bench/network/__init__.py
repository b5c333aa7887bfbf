"""Servers, clients in processes of their own, and links: delays, bandwidth and faults."""
