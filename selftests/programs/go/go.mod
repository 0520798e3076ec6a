// SPDX-License-Identifier: GPL-2.0
module programs

go 1.19
