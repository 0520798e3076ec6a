# SPDX-License-Identifier: GPL-2.0
#
#	make			the module for this machine's kernel, and libspeed
#	make demo		see it work, in a guest (HOST=1: on this machine)
#	make check		all tests (SUITES="lint unit 6.12" chooses)
#	make soak		the long ones, whole
#	make bench		all transports and rivals, and a report (QUICK=1: 5 minutes)
#	make figures		each figure with its bound
#	sudo make install	libspeed, headers, manual pages, and the module by DKMS
#
# Copied into a kernel's net/ folder, this file is the one that kbuild reads.

ifneq ($(KERNELRELEASE),)

obj-$(CONFIG_AF_SPEED) += kmod/

else

VERSION		:= 0.1.0
KDIR		?= /lib/modules/$(shell uname -r)/build
PREFIX		?= /usr/local
DESTDIR		?=
DKMS_DIR	:= $(DESTDIR)/usr/src/speed-$(VERSION)

all: modules userspace

modules:
	@test -e $(KDIR)/Makefile || { \
		echo "no headers of this kernel in $(KDIR): apt install linux-headers-$$(uname -r)" >&2; \
		exit 1; }
	$(MAKE) -C $(KDIR) M=$(CURDIR)/kmod modules

userspace:
	$(MAKE) -C userspace O=$(CURDIR)/build/userspace

demo:
	@HOST=$(HOST) tools/demo/demo

check:
	@tools/check/check $(SUITES)

soak:
	@SPEED_SOAK=1 tools/check/check $(SUITES)

bench:
	@tools/bench/bench $(if $(QUICK),--quick) $(if $(HOST),--host) \
		$(foreach k,$(KERNELS),--kernel $k) $(if $(JSON),--json $(JSON))

figures:
	@tools/bench/figures

install: install-userspace install-module

install-userspace: userspace
	$(MAKE) -C userspace O=$(CURDIR)/build/userspace PREFIX=$(PREFIX) DESTDIR=$(DESTDIR) install

# DKMS builds the module for each kernel that this machine gets.
install-module:
	install -d $(DKMS_DIR)/kmod/compat $(DKMS_DIR)/uapi/linux $(DESTDIR)/etc/modprobe.d
	install -m 644 kmod/*.[ch] kmod/Kbuild $(DKMS_DIR)/kmod/
	install -m 644 kmod/compat/*.[ch] $(DKMS_DIR)/kmod/compat/
	install -m 644 uapi/linux/*.h $(DKMS_DIR)/uapi/linux/
	sed 's/@VERSION@/$(VERSION)/' kmod/dkms.conf > $(DKMS_DIR)/dkms.conf
	test -e $(DESTDIR)/etc/modprobe.d/speed.conf || \
		install -m 644 kmod/modprobe.conf $(DESTDIR)/etc/modprobe.d/speed.conf
	$(if $(DESTDIR),,dkms install --force speed/$(VERSION))

uninstall:
	$(MAKE) -C userspace O=$(CURDIR)/build/userspace PREFIX=$(PREFIX) DESTDIR=$(DESTDIR) uninstall
	$(if $(DESTDIR),,-dkms remove speed/$(VERSION) --all)
	rm -rf $(DKMS_DIR) $(DESTDIR)/etc/modprobe.d/speed.conf

clean:
	rm -rf build
	-test ! -e $(KDIR)/Makefile || $(MAKE) -C $(KDIR) M=$(CURDIR)/kmod clean

.PHONY: all modules userspace demo check soak bench figures install install-userspace \
	install-module uninstall clean

endif
