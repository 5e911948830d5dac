#include "reach_memory.h"

#include <link.h>
#include <malloc.h>
#include <stdint.h>
#include <string.h>
#include <sys/auxv.h>
#include <sys/mman.h>
#include <unistd.h>

/* Whether the loader has written to segments that are read-only otherwise; such pages would be lost. No library of a
   distribution is like that on 64-bit machines. */
static int has_text_relocations(const struct dl_phdr_info *object)
{
    for (size_t i = 0; i < object->dlpi_phnum; i++) {
        if (object->dlpi_phdr[i].p_type != PT_DYNAMIC)
            continue;
        const ElfW(Dyn) *entry = (const ElfW(Dyn) *)(object->dlpi_addr + object->dlpi_phdr[i].p_vaddr);
        for (; entry->d_tag != DT_NULL; entry++) {
            if (entry->d_tag == DT_TEXTREL || (entry->d_tag == DT_FLAGS && entry->d_un.d_val & DF_TEXTREL))
                return 1;
        }
    }
    return 0;
}

static int release(struct dl_phdr_info *object, size_t size, void *page_size)
{
    (void)size;
    const uintptr_t page = *(const uintptr_t *)page_size;
    if (object->dlpi_addr == getauxval(AT_SYSINFO_EHDR) || has_text_relocations(object))
        return 0;
    /* A copy: the program headers are in a segment that is released, and reading them would map it again. */
    ElfW(Phdr) segments[64];
    size_t count = object->dlpi_phnum;
    if (count > sizeof segments / sizeof segments[0])
        return 0;
    memcpy(segments, object->dlpi_phdr, count * sizeof segments[0]);
    for (size_t i = 0; i < count; i++) {
        if (segments[i].p_type != PT_LOAD || segments[i].p_flags & PF_W)
            continue;
        uintptr_t start = (object->dlpi_addr + segments[i].p_vaddr) & -page;
        uintptr_t end = (object->dlpi_addr + segments[i].p_vaddr + segments[i].p_memsz + page - 1) & -page;
        /* The pages are clean, so this changes no byte. If it fails, they stay. */
        madvise((void *)start, end - start, MADV_DONTNEED);
    }
    return 0;
}

void reach_release_read_only_pages(void)
{
    uintptr_t page = (uintptr_t)sysconf(_SC_PAGESIZE);
    dl_iterate_phdr(release, &page);
}

void reach_release_free_memory(void)
{
    malloc_trim(0);
}
