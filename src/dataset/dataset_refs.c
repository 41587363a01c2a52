/* Reference tables: cards, models, regions, sensors, published calibration, digests, columns. */
#include "dataset/dataset.h"
#include "eco_data.h"

#include <math.h>

static const struct eco_published_tables published = {eco_data_anchors, eco_data_anchors_count,
                                                      eco_data_curves, eco_data_curves_count};

size_t eco_dataset_gpu_count(void)
{
    return eco_data_hardware_count;
}

const struct eco_gpu *eco_dataset_gpu(size_t index)
{
    return index < eco_data_hardware_count ? &eco_data_hardware[index] : NULL;
}

const char *eco_dataset_gpu_short(size_t index)
{
    return index < eco_data_hardware_count ? eco_data_hardware_extra[index].short_name : "";
}

size_t eco_dataset_model_count(void)
{
    return eco_data_models_count;
}

const struct eco_model *eco_dataset_model(size_t index)
{
    return index < eco_data_models_count ? &eco_data_models[index] : NULL;
}

const struct eco_model_logs *eco_dataset_model_logs(size_t index)
{
    return index < eco_data_models_count ? &eco_data_models_logs[index] : NULL;
}

const char *eco_dataset_model_short(size_t index)
{
    return index < eco_data_models_count ? eco_data_models_extra[index].short_name : "";
}

const char *eco_dataset_model_note(size_t index)
{
    return index < eco_data_models_count ? eco_data_models_extra[index].note : "";
}

bool eco_dataset_model_measured(size_t index)
{
    return index < eco_data_models_count && eco_data_models_extra[index].measured;
}

size_t eco_dataset_region_count(void)
{
    return eco_data_grid_count;
}

const struct eco_region *eco_dataset_region(size_t index)
{
    return index < eco_data_grid_count ? &eco_data_grid[index] : NULL;
}

size_t eco_dataset_sensor_count(void)
{
    return eco_data_sensors_count;
}

const struct eco_sensor *eco_dataset_sensor(size_t index)
{
    return index < eco_data_sensors_count ? &eco_data_sensors[index] : NULL;
}

const struct eco_published_tables *eco_dataset_published(void)
{
    return &published;
}

bool eco_dataset_anchor_is_net(size_t index)
{
    return index < eco_data_anchors_count && eco_data_anchors_extra[index].net;
}

double eco_dataset_anchor_delta_full_pct(size_t index)
{
    return index < eco_data_anchors_count ? eco_data_anchors_extra[index].delta_pct_full : NAN;
}

size_t eco_dataset_curve_count(void)
{
    return eco_data_curves_count;
}

bool eco_dataset_curve(size_t index, struct eco_curve *out)
{
    const struct eco_curves_extra *x;

    if (index >= eco_data_curves_count)
        return false;
    x = &eco_data_curves_extra[index];
    *out = (struct eco_curve){.curve = eco_data_curves[index],
                              .lo_b = x->lo_b,
                              .hi_b = x->hi_b,
                              .crossover_b = x->crossover_b,
                              .cap_pct = x->cap_pct,
                              .anchors = x->anchors};
    return true;
}

size_t eco_dataset_digest_count(void)
{
    return ECO_DATA_DIGESTS;
}

const struct eco_digest *eco_dataset_digest(size_t index)
{
    return index < ECO_DATA_DIGESTS ? &eco_data_digests[index] : NULL;
}

const char *eco_dataset_digest_all(void)
{
    return eco_data_digest_all;
}

size_t eco_dataset_column_count(void)
{
    return ECO_DATA_COLUMNS;
}

const struct eco_column *eco_dataset_column(size_t index)
{
    return index < ECO_DATA_COLUMNS ? &eco_data_columns[index] : NULL;
}
