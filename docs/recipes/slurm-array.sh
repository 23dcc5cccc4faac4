#!/bin/sh
#SBATCH --job-name=gagg
#SBATCH --array=1-8
#SBATCH --cpus-per-task=16
#SBATCH --mem=64G
# Each task writes the states of its share. When all have ended:
#   gagg --merge $STATES/*.state --order-by region -o result.parquet
set -eu
exec gagg -k region -a 'count(*) as orders, count(distinct customer) as customers, median(price) as price' \
	--partial --part "$SLURM_ARRAY_TASK_ID/$SLURM_ARRAY_TASK_COUNT" \
	-o "$STATES/$SLURM_ARRAY_TASK_ID.state" "$DATA"
