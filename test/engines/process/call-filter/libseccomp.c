/*
 * What libseccomp makes of the same wishes, as a reference: cc libseccomp.c -lseccomp && ./a.out x64|arm64 yes|no CALL… >FILE
 * The calls are those of REFUSED_CALLS; yes or no tells whether user namespaces may be made.
 */
#include <errno.h>
#include <seccomp.h>
#include <stdint.h>
#include <string.h>

#define CLONE_NEWUSER 0x10000000

static void refuse(scmp_filter_ctx filter, uint32_t action, const char *name) {
  int number = seccomp_syscall_resolve_name(name);
  if (number == __NR_SCMP_ERROR || seccomp_rule_add(filter, action, number, 0) != 0) __builtin_trap();
}

int main(int count, char **words) {
  uint32_t eperm = SCMP_ACT_ERRNO(EPERM);
  int is_x64 = strcmp(words[1], "x64") == 0;
  scmp_filter_ctx filter = seccomp_init(SCMP_ACT_ALLOW);
  seccomp_attr_set(filter, SCMP_FLTATR_ACT_BADARCH, eperm);
  seccomp_arch_remove(filter, seccomp_arch_native());
  seccomp_arch_add(filter, is_x64 ? SCMP_ARCH_X86_64 : SCMP_ARCH_AARCH64);
  for (int i = 3; i < count; i++) refuse(filter, eperm, words[i]);
  if (strcmp(words[2], "no") == 0) {
    refuse(filter, SCMP_ACT_ERRNO(ENOSYS), "clone3");
    refuse(filter, eperm, "setns");
    struct scmp_arg_cmp has_user = SCMP_A0(SCMP_CMP_MASKED_EQ, CLONE_NEWUSER, CLONE_NEWUSER);
    seccomp_rule_add(filter, eperm, SCMP_SYS(clone), 1, has_user);
    seccomp_rule_add(filter, eperm, SCMP_SYS(unshare), 1, has_user);
  }
  const char *calls[] = {"socket", "socketpair"};
  for (int i = 0; i < 2; i++) {
    int number = seccomp_syscall_resolve_name(calls[i]);
    for (uint64_t family = 0; family < 64; family++) {
      if (family == 1 || family == 2 || family == 10 || family == 16) continue;
      seccomp_rule_add(filter, eperm, number, 1, SCMP_A0_32(SCMP_CMP_EQ, family));
    }
    seccomp_rule_add(filter, eperm, number, 1, SCMP_A0_32(SCMP_CMP_GE, 64));
  }
  return seccomp_export_bpf(filter, 1) == 0 ? 0 : 1;
}
