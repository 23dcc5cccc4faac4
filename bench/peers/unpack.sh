# Unpacks the programs of build/$unpack below the folder that DATA names, and
# says where in programs. To be read by sh, which has no arguments for it.
programs=$DATA/$unpack
mkdir -p "$programs"
for packed in "build/$unpack"/*.xz; do
	program=$programs/$(basename "$packed" .xz)
	[ "$program" -nt "$packed" ] || { xz -dc "$packed" >"$program" && chmod +x "$program"; }
done
