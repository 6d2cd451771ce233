/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * TEST_ADDRESS_SANITIZER and TEST_THREAD_SANITIZER are defined where the sanitizer is compiled in,
 * by gcc or by clang. Their memory and their time are beyond what some tests allow.
 */
#ifndef SL_TESTS_SANITIZED_H
#define SL_TESTS_SANITIZED_H

#if defined(__has_feature)
#if __has_feature(address_sanitizer)
#define TEST_ADDRESS_SANITIZER 1
#endif
#if __has_feature(thread_sanitizer)
#define TEST_THREAD_SANITIZER 1
#endif
#endif
#if defined(__SANITIZE_ADDRESS__) && !defined(TEST_ADDRESS_SANITIZER)
#define TEST_ADDRESS_SANITIZER 1
#endif
#if defined(__SANITIZE_THREAD__) && !defined(TEST_THREAD_SANITIZER)
#define TEST_THREAD_SANITIZER 1
#endif

#endif
