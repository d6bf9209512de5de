/* SPDX-License-Identifier: BSD-3-Clause */
/* What the provider really does decides the capabilities of the fabric. */
#include "fabric/fabric_selftest.h"
#include "fabric/ofi/ofi_internal.h"

static void find_caps(struct ofi_fabric *f, struct storm_selftest *s)
{
    const struct fi_info *info = f->info;
    if (ofi_known_ordered(info)) {
        enum ofi_word_method careful = f->word_method;
        if (f->stream)
            f->word_method = OFI_WORD_MESSAGE;
        else if (info->tx_attr->inject_size >= sizeof(uint64_t))
            f->word_method = OFI_WORD_INJECT;
        f->fabric.caps.ordered =
            storm_selftest_agree(s, storm_selftest_order(s));
        if (!f->fabric.caps.ordered) {
            f->word_method = careful;
            storm_log_write(&f->fabric.env->log, STORM_LOG_WARN,
                            "ofi: provider %s does not keep order here; rings "
                            "wait for completions instead",
                            f->name);
        }
    }
    if (f->fabric.boot.size > 1 &&
        info->domain_attr->data_progress == FI_PROGRESS_AUTO)
        f->fabric.caps.async =
            storm_selftest_agree(s, storm_selftest_asleep(s));
}

storm_status ofi_selftest(struct ofi_fabric *f)
{
    struct storm_selftest s;
    storm_status status = storm_selftest_open(&f->fabric, &s);
    if (status == STORM_OK)
        find_caps(f, &s);
    return storm_selftest_close(&s, status);
}
