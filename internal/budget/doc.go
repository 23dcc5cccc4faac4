// Package budget counts bytes of which there may be so many: memory of the host, disk space for what is
// spilled, memory of a device. Who is about to make something large asks first, and may be refused.
//
// # Terms
//
//	limit        the most bytes that may be reserved; 0: any number
//	reserved     bytes that are somebody's: nobody else can have them
//	committed    bytes of these that are made, or are made next
//	peak         the most that were committed at a time
//	draw         to reserve bytes and commit them at once
//	release      to give drawn bytes back, when they are freed
//	reservation  bytes that are reserved before they are made, for an owner who could not go on without
//	debt         bytes that were taken though they were refused, by who cannot stop at that moment
//	hold back    to leave bytes of the limit to others: to what comes after the present phase
//	refusal      the answer to a request that would pass the limit: an *Error
//
//	         Draw                                   Release
//	free ──────────────────────────▶ committed ─────────────────▶ free
//	  │                                ▲    │                      ▲
//	  └─ Reserve ─▶ reservation ─Commit┘    │                      │
//	                  │   ▲─────────Uncommit┘                      │
//	                  └──────────────── Close ─────────────────────┘
//
// A [Budget] has the numbers of one resource. A [Lender] is whatever bytes are drawn from: a Budget, what it
// has beside the bytes left to others ([Budget.Beside]), a part with a limit of its own ([Checked]), a
// [Reservation]. Owners know what they have drawn and release it themselves. A nil Lender, where a configuration
// allows it, is no limit: [Or].
//
// # Invariants
//
// BUDGET-LIMIT: a draw or a reservation that was granted has not brought what is reserved beyond the limit less
// what is left to others. [Budget.Count] may: what it counts is little and cannot be done without.
//
// BUDGET-WHOLE: a refusal changes nothing; the same request can be made again when others have released.
//
// BUDGET-BACK: to release never fails, and a run that has ended has nothing reserved.
//
// # Refusals
//
// A refusal is no failure: its receiver has a way to go on with less (spills, makes a smaller buffer, leaves the
// device out), or has none and ends the run with it. All refusals are of the one type [Error], which
// a function that tells them from failures asks for by resource: errors.Is(err, budget.Memory). What is
// wrapped around one on its way up says what the bytes were for.
//
// All methods may be called from several goroutines at once. Requests are made for pages, slabs and tables, not
// for rows: each costs a few atomic operations.
package budget
