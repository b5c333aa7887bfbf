"""Links with a round-trip time and a bandwidth: servers, clients and networks in a namespace.

A server and a client are processes of their own, which the measuring process commands through pipes.
"""
