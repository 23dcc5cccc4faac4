package key

import "hash/maphash"

// secret seeds the hashes by which strings and keys are looked up where the hash of a key, which
// anybody can compute, may have been made to collide. It is another one in each process, so nothing
// that is seen outside of it may depend on these hashes: neither the order of groups nor their partition.
var secret = maphash.MakeSeed()
