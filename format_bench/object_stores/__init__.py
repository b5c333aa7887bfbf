"""Object stores: servers of S3, a proxy that counts and breaks requests, and what formats do on them."""
