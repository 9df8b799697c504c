/* SPDX-FileCopyrightText: 2026 The Khadim authors
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#define G_LOG_DOMAIN "khadim-rpa-screen"

#include "config.h"

#include "rpa/tools/khadim-rpa-screen-private.h"

/* The tools of the domain `screen`, as models and documents see them. */

#define OBJECT "{\"type\":\"object\",\"additionalProperties\":false"
#define PROPERTIES ",\"properties\":{"
#define TARGET "\"target\":" KHADIM_RPA_SCHEMA_TARGET
#define IN "\"in\":" KHADIM_RPA_SCHEMA_IN
#define DURATION "{\"type\":\"string\",\"pattern\":\"^[0-9]+([.][0-9]+)?(ms|s|m|h|d)$\"}"
#define TIMEOUT "\"timeout\":" DURATION
#define KEYS "\"keys\":{\"type\":\"string\",\"minLength\":1,\"maxLength\":200," \
  "\"description\":\"Keys held together, such as ctrl+s\"}"
#define BUTTON "\"button\":{\"enum\":[\"left\",\"middle\",\"right\",\"back\",\"forward\"]}"
#define POINT "\"x\":{\"type\":\"integer\",\"minimum\":0},\"y\":{\"type\":\"integer\",\"minimum\":0}"
#define REGION "\"region\":{\"type\":\"array\",\"minItems\":4,\"maxItems\":4," \
  "\"items\":{\"type\":\"integer\"},\"description\":\"x, y, width, height in pixels\"}"
#define LANGUAGE "\"language\":{\"type\":\"string\",\"pattern\":\"^[a-z_]{3,20}([+][a-z_]{3,20})*$\"}"
/* A point is whole or not there. */
#define WHOLE_POINT ",\"dependentRequired\":{\"x\":[\"y\"],\"y\":[\"x\"]}"

#define READS (KHADIM_TOOL_FLAGS_READ_ONLY | KHADIM_TOOL_FLAGS_IDEMPOTENT | \
               KHADIM_TOOL_FLAGS_NEEDS_SCREEN)
#define ACTS (KHADIM_TOOL_FLAGS_NEEDS_SCREEN | KHADIM_TOOL_FLAGS_NOTES)
#define REPEATS (KHADIM_TOOL_FLAGS_NEEDS_SCREEN | KHADIM_TOOL_FLAGS_IDEMPOTENT)

static const KhadimRpaTool tools[] = {
  { { .name = "screen.look", .title = "Look at the screen",
      .description = "Takes a picture of the screen, of a window or of a region.",
      .input_schema = OBJECT PROPERTIES IN "," REGION ",\"cursor\":{\"type\":\"boolean\"}}}",
      .flags = READS, .risk = KHADIM_TOOL_RISK_LOW },
    _khadim_rpa_run_look },
  { { .name = "screen.find", .title = "Find a place",
      .description = "Finds the place that a target describes, once it is there and still.",
      .input_schema = OBJECT ",\"required\":[\"target\"]" PROPERTIES TARGET "," IN "," TIMEOUT "}}",
      .flags = READS, .risk = KHADIM_TOOL_RISK_LOW },
    _khadim_rpa_run_find },
  { { .name = "screen.wait_for", .title = "Wait for a place",
      .description = "Waits until a place is shown, gone, still or changed.",
      .input_schema = OBJECT ",\"required\":[\"target\"]" PROPERTIES TARGET "," IN "," TIMEOUT
        ",\"state\":{\"enum\":[\"shown\",\"gone\",\"still\",\"changed\"]}}}",
      .flags = READS, .risk = KHADIM_TOOL_RISK_LOW },
    _khadim_rpa_run_wait_for },
  { { .name = "screen.read", .title = "Read the screen",
      .description = "Reads the text of a place: from the program where it tells, else by "
                     "recognising characters.",
      .input_schema = OBJECT PROPERTIES TARGET "," IN "," REGION "," LANGUAGE "," TIMEOUT "}}",
      .flags = READS, .risk = KHADIM_TOOL_RISK_LOW },
    _khadim_rpa_run_read },
  { { .name = "screen.tree", .title = "Read the accessible tree",
      .description = "Gives the accessible objects of a window or program.",
      .input_schema = OBJECT PROPERTIES IN ",\"app\":{\"type\":\"string\",\"maxLength\":200}"
        ",\"depth\":{\"type\":\"integer\",\"minimum\":1,\"maximum\":64}"
        ",\"limit\":{\"type\":\"integer\",\"minimum\":1,\"maximum\":2000}}}",
      .flags = READS, .risk = KHADIM_TOOL_RISK_LOW },
    _khadim_rpa_run_tree },
  { { .name = "screen.pointer", .title = "Ask where the pointer is",
      .description = "Gives the position of the pointer in pixels.",
      .input_schema = OBJECT "}", .flags = READS, .risk = KHADIM_TOOL_RISK_LOW },
    _khadim_rpa_run_pointer },
  { { .name = "screen.click", .title = "Click",
      .description = "Clicks a place once it is there and still.",
      .input_schema = OBJECT WHOLE_POINT PROPERTIES TARGET "," IN "," POINT "," BUTTON "," KEYS
        ",\"count\":{\"type\":\"integer\",\"minimum\":1,\"maximum\":3},\"hold\":" DURATION "}}",
      .flags = ACTS, .risk = KHADIM_TOOL_RISK_MEDIUM },
    _khadim_rpa_run_click },
  { { .name = "screen.move", .title = "Move the pointer",
      .description = "Moves the pointer to a place.",
      .input_schema = OBJECT WHOLE_POINT PROPERTIES TARGET "," IN "," POINT
        ",\"duration\":" DURATION "}}",
      .flags = REPEATS, .risk = KHADIM_TOOL_RISK_LOW },
    _khadim_rpa_run_move },
  { { .name = "screen.press", .title = "Press a button of the pointer",
      .description = "Presses a button, which stays pressed until screen.release.",
      .input_schema = OBJECT WHOLE_POINT PROPERTIES TARGET "," IN "," POINT "," BUTTON "}}",
      .flags = ACTS, .risk = KHADIM_TOOL_RISK_MEDIUM },
    _khadim_rpa_run_press },
  { { .name = "screen.release", .title = "Release a button of the pointer",
      .description = "Releases a button, or all buttons and keys.",
      .input_schema = OBJECT PROPERTIES
        "\"button\":{\"enum\":[\"left\",\"middle\",\"right\",\"back\",\"forward\",\"all\"]}}}",
      .flags = REPEATS, .risk = KHADIM_TOOL_RISK_LOW },
    _khadim_rpa_run_release },
  { { .name = "screen.drag", .title = "Drag",
      .description = "Drags from a target to another, or along a path of points.",
      .input_schema = OBJECT
        ",\"oneOf\":[{\"required\":[\"path\"]},{\"required\":[\"target\",\"to\"]}]" PROPERTIES TARGET
        ",\"to\":" KHADIM_RPA_SCHEMA_TARGET "," IN "," BUTTON "," KEYS ",\"duration\":" DURATION
        ",\"path\":{\"type\":\"array\",\"minItems\":2,\"maxItems\":1000,\"items\":{\"type\":\"array\","
        "\"minItems\":2,\"maxItems\":2,\"items\":{\"type\":\"integer\",\"minimum\":0}}}}}",
      .flags = ACTS, .risk = KHADIM_TOOL_RISK_MEDIUM },
    _khadim_rpa_run_drag },
  { { .name = "screen.scroll", .title = "Scroll",
      .description = "Turns the wheel over a place. A step is about 100 pixels, a page 10 steps.",
      .input_schema = OBJECT WHOLE_POINT PROPERTIES TARGET "," IN "," POINT "," KEYS
        ",\"dx\":{\"type\":\"integer\",\"minimum\":-100000,\"maximum\":100000}"
        ",\"dy\":{\"type\":\"integer\",\"minimum\":-100000,\"maximum\":100000}"
        ",\"unit\":{\"enum\":[\"step\",\"pixel\",\"page\"]}}}",
      .flags = ACTS, .risk = KHADIM_TOOL_RISK_LOW },
    _khadim_rpa_run_scroll },
  { { .name = "screen.type", .title = "Type",
      .description = "Types a text exactly, whatever the keyboard layout, into the field that the "
                     "target describes or into the active window.",
      .input_schema = OBJECT ",\"required\":[\"text\"]" PROPERTIES TARGET "," IN
        ",\"text\":{\"type\":\"string\",\"maxLength\":100000,\"x-khadim-secret\":true}"
        ",\"clear\":{\"type\":\"boolean\",\"description\":\"Empty the field first\"}"
        ",\"enter\":{\"type\":\"boolean\",\"description\":\"Press Return at the end\"}"
        ",\"delay\":" DURATION "}}",
      .flags = ACTS, .risk = KHADIM_TOOL_RISK_MEDIUM },
    _khadim_rpa_run_type },
  { { .name = "screen.key", .title = "Press keys",
      .description = "Presses keys that are held together, such as ctrl+s, and releases them.",
      .input_schema = OBJECT ",\"required\":[\"keys\"]" PROPERTIES TARGET "," IN "," KEYS
        ",\"repeat\":{\"type\":\"integer\",\"minimum\":1,\"maximum\":100},\"hold\":" DURATION "}}",
      .flags = ACTS, .risk = KHADIM_TOOL_RISK_MEDIUM },
    _khadim_rpa_run_key },
  { { .name = "screen.key_down", .title = "Hold keys",
      .description = "Presses keys, which stay pressed until screen.key_up.",
      .input_schema = OBJECT ",\"required\":[\"keys\"]" PROPERTIES IN "," KEYS "}}",
      .flags = ACTS, .risk = KHADIM_TOOL_RISK_MEDIUM },
    _khadim_rpa_run_key_down },
  { { .name = "screen.key_up", .title = "Release keys",
      .description = "Releases keys, or all of them.",
      .input_schema = OBJECT PROPERTIES KEYS "}}",
      .flags = REPEATS, .risk = KHADIM_TOOL_RISK_LOW },
    _khadim_rpa_run_key_up },
  { { .name = "screen.select_text", .title = "Select text",
      .description = "Selects from one phrase to another in a field, through accessibility.",
      .input_schema = OBJECT ",\"required\":[\"target\",\"from\"]" PROPERTIES TARGET "," IN
        ",\"from\":{\"type\":\"string\",\"minLength\":1},\"to\":{\"type\":\"string\",\"minLength\":1}}}",
      .flags = REPEATS, .risk = KHADIM_TOOL_RISK_LOW },
    _khadim_rpa_run_select_text },
  { { .name = "screen.invoke", .title = "Invoke an action",
      .description = "Invokes an action of an accessible object, such as press or toggle.",
      .input_schema = OBJECT ",\"required\":[\"target\"]" PROPERTIES TARGET "," IN
        ",\"action\":{\"type\":\"string\",\"minLength\":1,\"maxLength\":100}}}",
      .flags = ACTS, .risk = KHADIM_TOOL_RISK_MEDIUM },
    _khadim_rpa_run_invoke },
  { { .name = "screen.set_value", .title = "Set a value",
      .description = "Sets the text or number of a field, through accessibility.",
      .input_schema = OBJECT ",\"required\":[\"target\",\"value\"]" PROPERTIES TARGET "," IN
        ",\"value\":{\"type\":\"string\",\"maxLength\":100000,\"x-khadim-secret\":true}}}",
      .flags = REPEATS, .risk = KHADIM_TOOL_RISK_MEDIUM },
    _khadim_rpa_run_set_value },
};

KhadimToolDomain *
_khadim_rpa_screen_domain_new (KhadimRpaDesk *desk)
{
  return _khadim_rpa_domain_new (desk, "screen", tools, G_N_ELEMENTS (tools));
}
