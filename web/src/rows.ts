// Every measured row of the data set, read once.
import { ask } from './engine';

export interface DataRow {
  id: string;
  table: string;
  gpu: string;
  arch: string;
  model: string;
  params_b: number | null;
  precision: string;
  backend: string;
  batch: number;
  n_devices: number;
  throughput_tok_s: number | null;
  power_w: number | null;
  energy_j_per_1k: number | null;
  energy_gross_j_per_1k: number | null;
  energy_sd: number | null;
  n_trials: number | null;
  boundary: string;
  energy_basis: string;
  delta_pct: number | null;
  delta_gross_pct: number | null;
  baseline_id: string | null;
  grade: string;
  excluded: boolean;
  reason: string;
  session: string;
  stack: string;
  source: string;
  doi: string;
  licence: string;
}

let all: DataRow[] | null = null;
export function rows(): DataRow[] {
  if (!all) {
    const reply = ask<{ rows: DataRow[] }>('data', { action: 'list' });
    all = 'result' in reply ? reply.result.rows : [];
  }
  return all;
}

export const short = (model: string): string => model.replace(/^.*\//, '');

/** The better kept of two rows: grade, then trials, then the later session. */
export function better(a: DataRow, b: DataRow): number {
  return a.grade.localeCompare(b.grade) || (b.n_trials ?? 0) - (a.n_trials ?? 0) || b.session.localeCompare(a.session);
}
