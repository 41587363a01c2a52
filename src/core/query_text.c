/* Normalise the text (full width, Chinese marks, traditional characters) and cut it into tokens. */
#include "query.h"

#include "base/num.h"

#include <math.h>
#include <string.h>

/* One well-formed UTF-8 sequence, its length; 0: malformed. */
static size_t decode(const unsigned char *s, size_t len, uint32_t *out)
{
    size_t n = s[0] < 0x80 ? 1 : s[0] >= 0xF0 ? 4 : s[0] >= 0xE0 ? 3 : s[0] >= 0xC2 ? 2 : 0;
    uint32_t c = n == 1 ? s[0] : n == 2 ? s[0] & 0x1Fu : n == 3 ? s[0] & 0x0Fu : s[0] & 0x07u;

    if (n == 0 || n > len || s[0] > 0xF4)
        return 0;
    for (size_t i = 1; i < n; i++) {
        if ((s[i] & 0xC0) != 0x80)
            return 0;
        c = c << 6 | (s[i] & 0x3Fu);
    }
    *out = c;
    return n;
}

/*
 * Pairs "from to": marks become ASCII, traditional characters simplified ones. A Chinese comma
 * becomes ';' so that it never looks like a decimal comma, the comma of lists '&'. No
 * replacement is longer.
 */
static const char *const replacements[][2] = {
    {"，", ";"},
    {"。", ";"},
    {"、", "&"},
    {"；", ";"},
    {"：", ":"},
    {"？", "?"},
    {"！", "!"},
    {"（", "("},
    {"）", ")"},
    {"【", "("},
    {"】", ")"},
    {"「", "\""},
    {"」", "\""},
    {"“", "\""},
    {"”", "\""},
    {"‘", "'"},
    {"’", "'"},
    {"《", "\""},
    {"》", "\""},
    {"—", ";"},
    {"–", "-"},
    {"‑", "-"},
    {"‐", "-"},
    {"−", "-"},
    {"－", "-"},
    {"·", "-"},
    {"…", ";"},
    {"×", "x"},
    {"～", "~"},
    {"　", " "},
    {"\xC2\xA0", " "},
    {"\xE2\x80\x89", " "},
    {"\xE2\x80\xAF", " "},
    {"＄", "$"},
    {"￥", "¥"},
    {"億", "亿"},
    {"萬", "万"},
    {"參", "参"},
    {"數", "数"},
    {"顯", "显"},
    {"圖", "图"},
    {"靈", "灵"},
    {"張", "张"},
    {"塊", "块"},
    {"個", "个"},
    {"這", "这"},
    {"為", "为"},
    {"麼", "么"},
    {"費", "费"},
    {"電", "电"},
    {"會", "会"},
    {"對", "对"},
    {"較", "较"},
    {"從", "从"},
    {"換", "换"},
    {"請", "请"},
    {"錢", "钱"},
    {"長", "长"},
    {"輸", "输"},
    {"優", "优"},
    {"薦", "荐"},
    {"級", "级"},
    {"設", "设"},
    {"並", "并"},
    {"發", "发"},
    {"單", "单"},
    {"條", "条"},
    {"兩", "两"},
    {"點", "点"},
    {"運", "运"},
    {"應", "应"},
    {"該", "该"},
    {"還", "还"},
    {"節", "节"},
    {"嗎", "吗"},
    {"處", "处"},
    {"區", "区"},
    {"價", "价"},
    {"質", "质"},
    {"構", "构"},
    {"別", "别"},
    {"來", "来"},
    {"務", "务"},
    {"時", "时"},
    {"貴", "贵"},
    {"買", "买"},
    {"賣", "卖"},
    {"壞", "坏"},
    {"廢", "废"},
    {"說", "说"},
    {"錯", "错"},
    {"過", "过"},
    {"壓", "压"},
    {"縮", "缩"},
    {"給", "给"},
    {"樣", "样"},
    {"內", "内"},
    {"減", "减"},
    {"騰", "腾"},
    {"現", "现"},
    {"總", "总"},
    {"體", "体"},
    {"訓", "训"},
    {"練", "练"},
    {"環", "环"},
    {"筆", "笔"},
    {"歐", "欧"},
    {"幣", "币"},
    {"賬", "账"},
    {"帳", "账"},
    {"碼", "码"},
    {"測", "测"},
    {"試", "试"},
    {"準", "准"},
    {"實", "实"},
    {"據", "据"},
    {"傳", "传"},
    {"執", "执"},
    {"線", "线"},
    {"網", "网"},
    {"調", "调"},
    {"開", "开"},
    {"關", "关"},
    {"頻", "频"},
    {"積", "积"},
    {"轉", "转"},
    {"變", "变"},
    {"進", "进"},
    {"選", "选"},
    {"擇", "择"},
    {"後", "后"},
    {"見", "见"},
    {"問", "问"},
    {"題", "题"},
    {"預", "预"},
    {"達", "达"},
    {"額", "额"},
    {"週", "周"},
    {"雙", "双"},
    {"與", "与"},
    {"於", "于"},
    {"當", "当"},
    {"無", "无"},
    {"機", "机"},
    {"員", "员"},
    {"隻", "只"},
    {"術", "术"},
    {"產", "产"},
    {"權", "权"},
    {"釋", "释"},
    {"異", "异"},
    {"維", "维"},
    {"譯", "译"},
    {"讓", "让"},
    {"擴", "扩"},
    {"將", "将"},
    {"寫", "写"},
    {"嚮", "向"},
    {"誤", "误"},
    {"記", "记"},
    {"糾", "纠"},
    {"負", "负"},
    {"擔", "担"},
    {"養", "养"},
    {"淺", "浅"},
    {"齊", "齐"},
    {"併", "并"},
};

static const char *replacement(const char *s, size_t n)
{
    for (size_t i = 0; i < sizeof replacements / sizeof replacements[0]; i++) {
        const char *from = replacements[i][0];
        if (from[0] == s[0] && strlen(from) == n && memcmp(from, s, n) == 0)
            return replacements[i][1];
    }
    return NULL;
}

char eco_query_fold(char c)
{
    return c >= 'A' && c <= 'Z' ? (char)(c - 'A' + 'a') : c;
}

bool eco_query_digit(char c)
{
    return c >= '0' && c <= '9';
}

bool eco_query_letter(char c)
{
    char f = eco_query_fold(c);
    return f >= 'a' && f <= 'z';
}

static bool zero_letter(char c)
{
    return c == 'O' || c == 'o';
}

/* "RTX 409O", "H1OO": the letter for the digit, in runs of three and more. */
static void fold_zeros(char *s)
{
    for (size_t i = 0, end; s[i]; i = end) {
        size_t letters = 0;

        end = i + 1;
        if (!eco_query_digit(s[i]))
            continue;
        while (eco_query_digit(s[end]) || zero_letter(s[end]))
            letters += zero_letter(s[end++]);
        if (letters == 0 || end - i < 3 || eco_query_letter(s[end]))
            continue;
        for (size_t k = i; k < end; k++)
            s[k] = zero_letter(s[k]) ? '0' : s[k];
    }
}

void eco_query_normalise(struct query *q, const char *text, size_t len)
{
    size_t n = 0;

    for (size_t i = 0; i < len;) {
        uint32_t c = 0;
        size_t step = decode((const unsigned char *)text + i, len - i, &c);
        const char *to = step > 1 ? replacement(text + i, step) : NULL;

        if (step == 0 || c < 0x20 || c == 0x7F) {
            q->text[n++] = ' ';
            step = step == 0 ? 1 : step;
        } else if (to != NULL) {
            memcpy(q->text + n, to, strlen(to));
            n += strlen(to);
        } else if (c >= 0xFF01 && c <= 0xFF5E) { /* full width */
            q->text[n++] = (char)(c - 0xFEE0);
        } else {
            memcpy(q->text + n, text + i, step);
            n += step;
        }
        i += step;
    }
    q->text[n] = '\0';
    q->len = n;
    fold_zeros(q->text);
}

static bool upper(char c)
{
    return c >= 'A' && c <= 'Z';
}

static size_t digits(const char *s, size_t i)
{
    size_t n = 0;
    while (eco_query_digit(s[i + n]))
        n++;
    return n;
}

/* "16,384": groups of three behind the first digits. Returns the end, or i + n without groups. */
static size_t thousands(const char *s, size_t i, size_t n)
{
    size_t end = i + n;

    while (n <= 3 && s[end] == ',' && digits(s, end + 1) == 3)
        end += 4;
    return end;
}

static bool power_of_two(const char *s, size_t at, size_t end)
{
    unsigned long v = 0;

    for (; at < end; at++)
        v = s[at] == ' ' ? v : v * 10 + (unsigned long)(s[at] - '0');
    return (v & (v - 1)) == 0;
}

/* "50 000", "32 768": groups behind blanks that nobody writes alone. */
static size_t spaced_thousands(const char *s, size_t i, size_t n)
{
    size_t end = i + n;

    while (n <= 3 && s[i] != '0' && s[end] == ' ' && digits(s, end + 1) == 3 && end - i < 12)
        end += 4;
    return end > i + n && s[end] != '.' && s[end] != ',' &&
                   (strncmp(s + end - 3, "000", 3) == 0 || power_of_two(s, i, end))
               ? end
               : i + n;
}

/* "1.500.000": at least two groups of three. Returns the end, or i + n. */
static size_t dotted_thousands(const char *s, size_t i, size_t n)
{
    size_t end = i + n;

    while (n <= 3 && s[end] == '.' && digits(s, end + 1) == 3)
        end += 4;
    return end - i - n >= 8 && !(s[end] == '.' && eco_query_digit(s[end + 1])) ? end : i + n;
}

static bool context_follows(const char *s, size_t at)
{
    at += s[at] == ' ' || s[at] == '-';
    return eco_query_fold(s[at]) == 't' || (eco_query_fold(s[at]) == 'c' && s[at + 1] != 'a');
}

/* "1,5 million", "10,5k", "1,5百万": a scale stands at s[at]. */
static bool scale_word(const char *s, size_t at)
{
    static const char *const words[] = {"k",        "million", "millions", "mln", "billion",
                                        "thousand", "百",      "千",       "万",  "亿"};
    if (eco_query_fold(s[at]) == 'k' && context_follows(s, at + 1))
        return false; /* "batch 1,8k context": a list */
    for (size_t i = 0; i < sizeof words / sizeof words[0]; i++) {
        size_t n = 0;
        while (words[i][n] != '\0' && eco_query_fold(s[at + n]) == words[i][n])
            n++;
        if (words[i][n] == '\0' && (n > 0 && !eco_query_letter(s[at + n])))
            return true;
    }
    return false;
}

/* "1,5B": a comma for a point, only before a scale, and only where no list can be meant. */
static bool decimal_comma(const char *s, size_t i, size_t n)
{
    size_t fraction = digits(s, i + n + 1), end = i + n + 1 + fraction;
    char unit;

    if (n > 3 || fraction == 0 || fraction > 2 ||
        (i > 0 && (eco_query_letter(s[i - 1]) || s[i - 1] == ',')))
        return false;
    end += s[end] == ' ';
    if ((n == 1 && s[i] == '0') || scale_word(s, end))
        return true;
    unit = eco_query_fold(s[end]);
    return unit == 'b' && (!eco_query_letter(s[end + 1]) || eco_query_fold(s[end + 1]) == 'i' ||
                           eco_query_fold(s[end + 1]) == 'n');
}

/* "2xlarge": what stands behind the point of a cloud machine's name. */
static bool machine_size(const char *s, size_t i)
{
    i += digits(s, i);
    return strncmp(s + i, "xlarge", 6) == 0;
}

/* The number at s[i]; its end; `*value`. VERSION when it is "1.5.2". */
static size_t scan_number(const char *s, size_t i, double *value, uint8_t *kind)
{
    char plain[64];
    size_t n = digits(s, i), end = thousands(s, i, n), k = 0, e;
    size_t dotted = dotted_thousands(s, i, n), spaced = spaced_thousands(s, i, n);

    *kind = QUERY_NUM;
    if (dotted > i + n)
        end = dotted;
    else if (spaced > i + n)
        end = spaced;
    else if (end == i + n && s[end] == ',' && decimal_comma(s, i, n))
        end += 1 + digits(s, end + 1);
    else if (s[end] == '.' && eco_query_digit(s[end + 1]) && !machine_size(s, end + 1))
        end += 1 + digits(s, end + 1);
    e = end;
    if (eco_query_fold(s[e]) == 'e' && e > i) {
        e += s[e + 1] == '+' ? 2 : 1;
        e = eco_query_digit(s[e]) ? e + digits(s, e) : end;
        end = eco_query_letter(s[e]) ? end : e;
    }
    if (s[end] == '.' && eco_query_digit(s[end + 1]) && !machine_size(s, end + 1)) {
        *kind = QUERY_VERSION;
        while (eco_query_digit(s[end]) || (s[end] == '.' && eco_query_digit(s[end + 1])))
            end++;
    }
    for (size_t at = i; at < end && k < sizeof plain - 1; at++) {
        bool group = (s[at] == ',' && digits(s, at + 1) == 3) || (at < dotted && s[at] == '.') ||
                     s[at] == ' ';
        if (!group)
            plain[k++] = s[at] == ',' ? '.' : s[at];
    }
    *value = 0.0;
    if (*kind == QUERY_NUM && eco_num_parse_lenient(plain, k, value) != 0)
        *kind = QUERY_VERSION; /* too large to be a figure: a label */
    return end;
}

/* Letters from i on; a change from lower to upper case parts words written together. */
static size_t scan_word(const struct query *q, size_t i, bool after_number)
{
    const char *s = q->text;
    size_t end = i + 1;

    if (after_number && eco_query_fold(s[i]) == 'x' &&
        (eco_query_letter(s[end]) || eco_query_digit(s[end])))
        return end; /* the sign in "8xH100" */
    while (eco_query_letter(s[end]) && !(upper(s[end]) && !upper(s[end - 1])))
        end++;
    return end;
}

static bool minus_before(const char *s, size_t i)
{
    return i > 0 && s[i - 1] == '-' &&
           (i == 1 || s[i - 2] == ' ' || s[i - 2] == '=' || s[i - 2] == '(' || s[i - 2] == ':');
}

static size_t scan_token(const struct query *q, size_t i, struct query_token *t, bool after_number)
{
    const char *s = q->text;
    uint32_t c = 0;
    size_t n;
    bool point = s[i] == '.' && eco_query_digit(s[i + 1]) &&
                 (i == 0 || !eco_query_digit(s[i - 1])) && (i == 0 || !eco_query_letter(s[i - 1]));

    if (eco_query_digit(s[i]) || point) {
        t->negative = minus_before(s, i);
        return scan_number(s, i, &t->value, &t->kind);
    }
    if (eco_query_letter(s[i])) {
        t->kind = QUERY_WORD;
        return scan_word(q, i, after_number);
    }
    n = decode((const unsigned char *)s + i, q->len - i, &c);
    n = n == 0 ? 1 : n;
    t->kind = (c >= 0x3400 && c <= 0x9FFF) || (c >= 0xF900 && c <= 0xFAFF) ? QUERY_CJK : QUERY_MARK;
    return i + n;
}

void eco_query_tokenise(struct query *q)
{
    bool space = true;

    q->n_tokens = 0;
    for (size_t i = 0; i < q->len && q->n_tokens < QUERY_MAX_TOKENS;) {
        struct query_token *t = &q->token[q->n_tokens];
        bool after = q->n_tokens > 0 && !space && t[-1].kind == QUERY_NUM;
        size_t end;

        if (q->text[i] == ' ') {
            space = true;
            i++;
            continue;
        }
        *t = (struct query_token){.at = (uint16_t)i, .space = space};
        end = scan_token(q, i, t, after);
        t->len = (uint16_t)(end - i);
        q->n_tokens++;
        space = false;
        i = end;
    }
}

static bool separator(char c)
{
    return c == ' ' || c == '-' || c == '_';
}

size_t eco_query_phrase(const struct query *q, size_t first, const char *phrase)
{
    size_t at = q->token[first].at, i = first;

    for (; *phrase; phrase++) {
        if (*phrase == ' ') {
            while (separator(q->text[at]))
                at++;
        } else if (eco_query_fold(q->text[at]) == *phrase) {
            at++;
        } else {
            return 0;
        }
    }
    while (i < q->n_tokens && (size_t)q->token[i].at + q->token[i].len < at)
        i++;
    return i < q->n_tokens && (size_t)q->token[i].at + q->token[i].len == at ? i - first + 1 : 0;
}

bool eco_query_token_is(const struct query *q, size_t i, const char *text)
{
    size_t n = strlen(text);

    if (i >= q->n_tokens || q->token[i].len != n)
        return false;
    for (size_t k = 0; k < n; k++) {
        if (eco_query_fold(q->text[q->token[i].at + k]) != text[k])
            return false;
    }
    return true;
}

bool eco_query_glued(const struct query *q, size_t i)
{
    return i > 0 && i < q->n_tokens && !q->token[i].space && q->token[i - 1].kind != QUERY_MARK &&
           q->token[i].kind != QUERY_MARK;
}
