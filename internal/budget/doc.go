// Package budget counts bytes that are limited: memory of the host, disk space for spilled rows,
// memory of a device. Code that is about to make something large asks first, and may be refused.
//
// # Terms
//
//	limit        the most bytes that may be reserved; 0: any number
//	reserved     bytes that have an owner: nobody else can have them
//	committed    reserved bytes that the owner has made, or makes next
//	peak         the most that were committed at a time
//	draw         to reserve bytes and commit them at once
//	release      to give drawn bytes back, when they are freed
//	reservation  bytes reserved before they are made, for an owner who could not go on without
//	debt         bytes that an owner who could not stop took in spite of a refusal
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
// A [Budget] has the numbers of one resource. A [Lender] is whatever bytes are drawn from: a
// Budget; what a Budget has beside the bytes left to others ([Budget.Beside]); a part with a
// limit of its own ([Checked]); a [Reservation]. Owners know what they have drawn and release it
// themselves. Where a configuration allows it, a nil Lender is no limit: [Or].
//
// # Invariants
//
// BUDGET-LIMIT: after a draw or a reservation was granted, what is reserved is within the limit
// less what is left to others. [Budget.Count] may pass it: it is for little that a run cannot do
// without.
//
// BUDGET-WHOLE: a refusal changes nothing. The same request can be made again when others have
// released.
//
// BUDGET-BACK: a release never fails, and a run that has ended has nothing reserved.
//
// # Refusals
//
// A refusal is no failure. Its receiver goes on with less (spills, makes a smaller buffer, leaves
// the device out), or ends the run with it. All refusals are of the one type [Error]. A function
// that tells them from failures asks by resource: errors.Is(err, budget.Memory). What is wrapped
// around a refusal on its way up says what the bytes were for.
//
// All methods may be called from several goroutines at once. Requests are made for pages, slabs
// and tables, not for rows: each costs a few atomic operations.
package budget
