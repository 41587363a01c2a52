/*
 * A made-up world for the predictor's tests: two cards, two precisions, five sizes, three
 * sessions; y = level + slope * ln(N / 3e9) + a session's offset. No noise but a fixed ripple.
 */
#ifndef PREDICT_WORLD_H
#define PREDICT_WORLD_H

#include "core/predict_fit.h"

#include <math.h>
#include <stdlib.h>

enum { WORLD_N = 60 };

static const char *const world_names[WORLD_N + 1] = {
    "p0",  "p1",  "p2",  "p3",  "p4",  "p5",  "p6",  "p7",  "p8",  "p9",  "p10", "p11", "p12",
    "p13", "p14", "p15", "p16", "p17", "p18", "p19", "p20", "p21", "p22", "p23", "p24", "p25",
    "p26", "p27", "p28", "p29", "p30", "p31", "p32", "p33", "p34", "p35", "p36", "p37", "p38",
    "p39", "p40", "p41", "p42", "p43", "p44", "p45", "p46", "p47", "p48", "p49", "p50", "p51",
    "p52", "p53", "p54", "p55", "p56", "p57", "p58", "p59", "p60",
};

static double world_truth(int precision, double params_b, double batch)
{
    double level = precision == 0 ? 0.1 : 0.8, slope = precision == 0 ? -0.2 : -0.25;

    return level + slope * log(params_b / 3.0) + (batch > 1.0 && precision == 0 ? 0.6 : 0.0);
}

/* The 60th pair on is at batch 8 (NF4, first card). */
static void world_fill(struct eco_predict_point *points)
{
    static const double sizes[5] = {0.5, 1.5, 3.0, 7.0, 14.0};
    static const char *const models[5] = {"m/0.5", "m/1.5", "m/3", "m/7", "m/14"};
    static const char *const sessions[2][3] = {{"s0", "s1", "s2"}, {"s3", "s4", "s5"}};
    static const double offset[3] = {0.0, 0.04, -0.04};

    for (int i = 0; i < WORLD_N; i++) {
        int size = i % 5, session = i / 5 % 3, precision = i / 15 % 2, card = i / 30;
        double ripple = 0.01 * ((i * 7) % 5 - 2);

        points[i] = (struct eco_predict_point){
            .id = world_names[i],
            .baseline_id = world_names[i],
            .model_id = models[size],
            .gpu = card ? "Card B" : "Card A",
            .session = sessions[card][session],
            .source = "",
            .arch = card ? ECO_ARCH_ADA : ECO_ARCH_AMPERE,
            .engine = ECO_ENGINE_TRANSFORMERS,
            .precision = precision ? ECO_PREC_INT8_MIXED : ECO_PREC_NF4,
            .grade = ECO_GRADE_B,
            .params_b = sizes[size],
            .active_b = sizes[size],
            .nominal_b = sizes[size],
            .batch = 1.0,
            .context_tokens = 128.0,
            .mem_bw_gbps = 1000.0,
            .n_gpus = 1,
            .n_trials = 1,
            .fit = true,
        };
        if (i % 15 == 14 && precision == 0)
            points[i].batch = 8.0;
        points[i].y =
            world_truth(precision, sizes[size], points[i].batch) + offset[session] + ripple;
        points[i].published_pct = 100.0 * expm1(points[i].y);
    }
}

#endif
