/**
 * The part of a script in which it takes a volume for itself and all that it starts, until the last of that has ended: whatever is believed of the
 * server before, no two write to it. Nothing has to be written for that, as its disk may be full.
 */
export const ALONE = `exec 9< "$CPD_VOLUME"
flock --timeout 60 9 || { echo 'Another server has this disk, and does not end.' >&2; exit 1; }`
