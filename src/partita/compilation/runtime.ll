; The memory of arrays and lists, of which Numba's own runtime has more than is used here. An owner
; of memory has 48 bytes: references, whether the data are apart from it, a function that is called
; before they are freed, the address of the data, their size. Only C-contiguous arrays are reshaped.
declare ptr @malloc(i64)
declare ptr @realloc(ptr, i64)
declare void @free(ptr)
define weak_odr noalias ptr @NRT_Allocate(i64 %size) {
  %memory = call ptr @malloc(i64 %size)
  ret ptr %memory
}
define weak_odr void @NRT_Free(ptr %memory) {
  call void @free(ptr %memory)
  ret void
}
define weak_odr noalias ptr @NRT_MemInfo_alloc(i64 %size) {
  %owner = call ptr @NRT_MemInfo_alloc_aligned(i64 %size, i32 16)
  ret ptr %owner
}
define weak_odr noalias ptr @NRT_MemInfo_alloc_aligned(i64 %size, i32 %align) {
  %wide = zext i32 %align to i64
  %room = add i64 %wide, 48
  %all = add i64 %size, %room
  %owner = call ptr @malloc(i64 %all)
  %none = icmp eq ptr %owner, null
  br i1 %none, label %failed, label %made
made:
  %base = ptrtoint ptr %owner to i64
  %after = add i64 %base, %room
  %last = sub i64 %after, 1
  %mask = sub i64 0, %wide
  %start = and i64 %last, %mask
  %data = inttoptr i64 %start to ptr
  call void @"partita.own"(ptr %owner, ptr null, ptr null, ptr %data, i64 %size)
  ret ptr %owner
failed:
  ret ptr null
}
define weak_odr ptr @NRT_MemInfo_new_varsize_dtor(i64 %size, ptr %before) {
  %owner = call ptr @malloc(i64 48)
  %data = call ptr @malloc(i64 %size)
  %one = icmp eq ptr %owner, null
  %other = icmp eq ptr %data, null
  %none = or i1 %one, %other
  br i1 %none, label %failed, label %made
made:
  call void @"partita.own"(ptr %owner, ptr %data, ptr %before, ptr %data, i64 %size)
  ret ptr %owner
failed:
  call void @free(ptr %owner)
  call void @free(ptr %data)
  ret ptr null
}
define weak_odr void @"partita.own"(ptr %owner, ptr %apart, ptr %before, ptr %data, i64 %size) {
  store i64 1, ptr %owner
  %at1 = getelementptr i8, ptr %owner, i64 8
  store ptr %apart, ptr %at1
  %at2 = getelementptr i8, ptr %owner, i64 16
  store ptr %before, ptr %at2
  %at3 = getelementptr i8, ptr %owner, i64 24
  store ptr %data, ptr %at3
  %at4 = getelementptr i8, ptr %owner, i64 32
  store i64 %size, ptr %at4
  ret void
}
define weak_odr ptr @NRT_MemInfo_varsize_realloc(ptr %owner, i64 %size) {
  %at3 = getelementptr i8, ptr %owner, i64 24
  %old = load ptr, ptr %at3
  %data = call ptr @realloc(ptr %old, i64 %size)
  %none = icmp eq ptr %data, null
  br i1 %none, label %failed, label %made
made:
  %at1 = getelementptr i8, ptr %owner, i64 8
  store ptr %data, ptr %at1
  store ptr %data, ptr %at3
  %at4 = getelementptr i8, ptr %owner, i64 32
  store i64 %size, ptr %at4
  ret ptr %data
failed:
  ret ptr null
}
define weak_odr void @NRT_MemInfo_call_dtor(ptr %owner) {
  %at1 = getelementptr i8, ptr %owner, i64 8
  %apart = load ptr, ptr %at1
  %inside = icmp eq ptr %apart, null
  br i1 %inside, label %end, label %separate
separate:
  %at2 = getelementptr i8, ptr %owner, i64 16
  %before = load ptr, ptr %at2
  %simple = icmp eq ptr %before, null
  br i1 %simple, label %data, label %items
items:
  %at4 = getelementptr i8, ptr %owner, i64 32
  %size = load i64, ptr %at4
  call void %before(ptr %apart, i64 %size, ptr null)
  br label %data
data:
  call void @free(ptr %apart)
  br label %end
end:
  call void @free(ptr %owner)
  ret void
}
define weak_odr i32 @numba_attempt_nocopy_reshape(i64 %axes, ptr %shape, ptr %strides,
    i64 %new_axes, ptr %new_shape, ptr %new_strides, i64 %item_size, i32 %fortran) {
start:
  br label %check
check:
  %i = phi i64 [%axes, %start], [%i.next, %same]
  %size = phi i64 [%item_size, %start], [%size.next, %same]
  %checked = icmp eq i64 %i, 0
  br i1 %checked, label %write, label %axis
axis:
  %i.next = sub i64 %i, 1
  %at.length = getelementptr i64, ptr %shape, i64 %i.next
  %length = load i64, ptr %at.length
  %at.stride = getelementptr i64, ptr %strides, i64 %i.next
  %stride = load i64, ptr %at.stride
  %size.next = mul i64 %size, %length
  %contiguous = icmp eq i64 %stride, %size
  %single = icmp ule i64 %length, 1
  %fine = or i1 %contiguous, %single
  br i1 %fine, label %same, label %other
same:
  br label %check
other:
  ret i32 0
write:
  %k = phi i64 [%new_axes, %check], [%k.next, %new]
  %step = phi i64 [%item_size, %check], [%step.next, %new]
  %written = icmp eq i64 %k, 0
  br i1 %written, label %end, label %new
new:
  %k.next = sub i64 %k, 1
  %at.new = getelementptr i64, ptr %new_strides, i64 %k.next
  store i64 %step, ptr %at.new
  %at.new.length = getelementptr i64, ptr %new_shape, i64 %k.next
  %new.length = load i64, ptr %at.new.length
  %step.next = mul i64 %step, %new.length
  br label %write
end:
  ret i32 1
}
define weak_odr void @"partita.release"(ptr %owner) {
  %before = atomicrmw sub ptr %owner, i64 1 acq_rel
  %last = icmp eq i64 %before, 1
  br i1 %last, label %release, label %kept
release:
  call void @NRT_MemInfo_call_dtor(ptr %owner)
  ret void
kept:
  ret void
}
declare double @frexp(double, ptr)
declare double @ldexp(double, i32)
define weak_odr double @numba_frexp(double %x, ptr %exponent) {
  %part = call double @frexp(double %x, ptr %exponent)
  ret double %part
}
define weak_odr double @numba_ldexp(double %x, i32 %exponent) {
  %value = call double @ldexp(double %x, i32 %exponent)
  ret double %value
}
