/* SPDX-License-Identifier: BSD-3-Clause */
#include "support/xml.h"

#include <ctype.h>
#include <stdio.h>
#include <string.h>

enum { XML_DEEPEST = 32, XML_NAME_BYTES = 32 };

struct xml {
    const char *at;
    char open[XML_DEEPEST][XML_NAME_BYTES];
    int depth;
};

static bool xml_wrong(const struct xml *xml, const char *what)
{
    fprintf(stderr, "xml: %s at `%.60s`\n", what, xml->at);
    return false;
}

static bool xml_name(struct xml *xml, char name[XML_NAME_BYTES])
{
    int n = 0;
    while (isalnum((unsigned char)*xml->at) || strchr("-_:.", *xml->at)) {
        if (*xml->at == '\0' || n == XML_NAME_BYTES - 1)
            return xml_wrong(xml, "name too long");
        name[n++] = *xml->at++;
    }
    name[n] = '\0';
    return n > 0 || xml_wrong(xml, "no name");
}

static bool xml_entity(struct xml *xml)
{
    static const char *const known[] = {"&amp;", "&lt;", "&gt;", "&quot;"};
    for (int i = 0; i < 4; i++)
        if (strncmp(xml->at, known[i], strlen(known[i])) == 0) {
            xml->at += strlen(known[i]);
            return true;
        }
    return xml_wrong(xml, "bare &");
}

/* Up to `end`, which is a quote or '<'. */
static bool xml_text(struct xml *xml, char end)
{
    while (*xml->at != '\0' && *xml->at != end) {
        if (*xml->at == '&') {
            if (!xml_entity(xml))
                return false;
        } else if (*xml->at == '<' ||
                   ((unsigned char)*xml->at < ' ' && *xml->at != '\n')) {
            return xml_wrong(xml, "character that may not be here");
        } else {
            xml->at++;
        }
    }
    return *xml->at == end || (end == '<' && xml->depth == 0) ||
           xml_wrong(xml, "end");
}

static bool xml_attributes(struct xml *xml)
{
    char name[XML_NAME_BYTES];
    while (*xml->at == ' ') {
        xml->at++;
        if (!xml_name(xml, name))
            return false;
        if (strncmp(xml->at, "=\"", 2) != 0)
            return xml_wrong(xml, "attribute without value");
        xml->at += 2;
        if (!xml_text(xml, '"'))
            return false;
        xml->at++;
    }
    return true;
}

static bool xml_tag(struct xml *xml)
{
    char name[XML_NAME_BYTES];
    xml->at++;
    if (*xml->at == '/') {
        xml->at++;
        if (!xml_name(xml, name))
            return false;
        if (xml->depth == 0 || strcmp(name, xml->open[xml->depth - 1]) != 0)
            return xml_wrong(xml, "closes what is not open");
        xml->depth--;
    } else {
        if (!xml_name(xml, name) || !xml_attributes(xml))
            return false;
        if (*xml->at == '/')
            xml->at++;
        else if (xml->depth == XML_DEEPEST)
            return xml_wrong(xml, "too deep");
        else
            memcpy(xml->open[xml->depth++], name, sizeof name);
    }
    if (*xml->at != '>')
        return xml_wrong(xml, "tag without end");
    xml->at++;
    return true;
}

bool test_xml_well_formed(const char *text)
{
    struct xml xml = {.at = text};
    while (*xml.at != '\0')
        if (*xml.at == '<' ? !xml_tag(&xml) : !xml_text(&xml, '<'))
            return false;
    return xml.depth == 0 || xml_wrong(&xml, "something is still open");
}
