// SPDX-License-Identifier: Apache-2.0
// What Linux offers and the Glibc module leaves out: epoll, eventfd, timerfd, mallopt.
#pragma once
#include <malloc.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/timerfd.h>
#include <sys/resource.h>
#include <sys/signalfd.h>
#include <netinet/tcp.h>
