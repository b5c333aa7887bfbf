/* Link between two TUN devices: a delay and a rate in each direction, without losses.

   usage: relay TUN TUN DELAY_NS BITS_PER_SECOND, with open descriptors and 0 for no limit of the rate.

   For each direction, one thread stamps arriving packets with the time at which they are due, and another
   delivers them: due = max(end of the packet before, now) + bits / rate + delay. */

#define _GNU_SOURCE
#include <errno.h>
#include <pthread.h>
#include <semaphore.h>
#include <signal.h>
#include <stdint.h>
#include <stdlib.h>
#include <sys/prctl.h>
#include <time.h>
#include <unistd.h>

enum { SLOTS = 16384, PACKET_BYTES = 2048 };

struct packet {
    int64_t due_ns;
    ssize_t length;
    char bytes[PACKET_BYTES];
};

struct direction {
    int from, to;
    struct packet *ring;
    sem_t filled, free;
};

static int64_t delay_ns, bits_per_second;

static int64_t now_ns(void) {
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return now.tv_sec * INT64_C(1000000000) + now.tv_nsec;
}

static void wait(sem_t *semaphore) {
    while (sem_wait(semaphore) && errno == EINTR) {
    }
}

static void *accept_packets(void *argument) {
    struct direction *way = argument;
    int64_t sent_ns = 0;
    for (unsigned i = 0;; i = (i + 1) % SLOTS) {
        wait(&way->free);
        struct packet *packet = &way->ring[i];
        packet->length = read(way->from, packet->bytes, PACKET_BYTES);
        if (packet->length <= 0) exit(1);
        int64_t now = now_ns();
        if (sent_ns < now) sent_ns = now;
        if (bits_per_second) sent_ns += packet->length * 8 * INT64_C(1000000000) / bits_per_second;
        packet->due_ns = sent_ns + delay_ns;
        sem_post(&way->filled);
    }
}

static void *deliver_packets(void *argument) {
    struct direction *way = argument;
    for (unsigned i = 0;; i = (i + 1) % SLOTS) {
        wait(&way->filled);
        struct packet *packet = &way->ring[i];
        struct timespec due = {packet->due_ns / 1000000000, packet->due_ns % 1000000000};
        if (packet->due_ns > now_ns())
            while (clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &due, NULL) == EINTR) {
            }
        if (write(way->to, packet->bytes, packet->length) < 0 && errno != EINVAL && errno != EIO) exit(1);
        sem_post(&way->free);
    }
}

int main(int count, char **arguments) {
    if (count != 5) return 2;
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    int ends[] = {atoi(arguments[1]), atoi(arguments[2])};
    delay_ns = atoll(arguments[3]);
    bits_per_second = atoll(arguments[4]);
    struct direction ways[2];
    pthread_t thread;
    for (int i = 0; i < 2; i++) {
        ways[i].from = ends[i];
        ways[i].to = ends[1 - i];
        ways[i].ring = malloc(SLOTS * sizeof(struct packet));
        if (!ways[i].ring || sem_init(&ways[i].filled, 0, 0) || sem_init(&ways[i].free, 0, SLOTS)) return 1;
        if (pthread_create(&thread, NULL, accept_packets, &ways[i])) return 1;
        if (pthread_create(&thread, NULL, deliver_packets, &ways[i])) return 1;
    }
    pause();
    return 0;
}
